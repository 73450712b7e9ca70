"""Table verification_run: one judgement of one kernel on one kind of device."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import JSON, CheckConstraint, Index
from sqlmodel import Field

from app.models.base import Table
from app.models.columns import ExactDecimal, UtcDateTime, one_of
from app.vocabulary import RunState


class VerificationRunRow(Table, table=True):
    """A finished run carries a verdict; only a correct kernel's run carries a speedup."""

    __tablename__ = "verification_run"
    __table_args__ = (
        one_of("state", RunState),
        CheckConstraint("state <> 'finished' OR verdict IS NOT NULL", name="finished_has_verdict"),
        CheckConstraint(
            "speedup IS NULL OR verdict IN ('verified', 'verified_slower')", name="figures_of_correct_runs"
        ),
        Index(None, "item_id", "hardware", "finished_at"),
    )

    id: str = Field(primary_key=True, max_length=64)
    item_id: str = Field(foreign_key="item.id", max_length=64)
    state: str = Field(max_length=16)
    hardware: str = Field(max_length=100)
    """Name of the device, such as `NVIDIA H200`."""
    verdict: str | None = Field(default=None, max_length=40)
    speedup: Decimal | None = Field(default=None, sa_type=ExactDecimal)
    figures: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    fingerprint: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
