"""Table verification_run: one judgement of one kernel on one kind of device, and the work order for it."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import JSON, CheckConstraint, Index
from sqlmodel import Field

from app.models.base import Table
from app.models.columns import ExactDecimal, UtcDateTime, not_negative, one_of
from app.vocabulary import OrderReason, RunState


class VerificationRunRow(Table, table=True):
    """The row is the truth about its run: a message in a queue only wakes a worker, which must win the row first.

    A finished run carries a verdict; only a correct kernel's run carries a speedup.
    """

    __tablename__ = "verification_run"
    __table_args__ = (
        one_of("state", RunState),
        one_of("reason", OrderReason),
        not_negative("attempts"),
        not_negative("lost"),
        CheckConstraint("state <> 'finished' OR verdict IS NOT NULL", name="finished_has_verdict"),
        CheckConstraint("state <> 'running' OR worker IS NOT NULL", name="running_has_worker"),
        CheckConstraint(
            "speedup IS NULL OR verdict IN ('verified', 'verified_slower')", name="figures_of_correct_runs"
        ),
        CheckConstraint("(item_id IS NULL) <> (control IS NULL)", name="kernel_or_control"),
        Index(None, "item_id", "hardware", "finished_at"),
        Index(None, "state", "hardware"),
        Index(None, "queued_at", "id"),
        Index(None, "night"),
    )

    id: str = Field(primary_key=True, max_length=64)
    item_id: str | None = Field(default=None, foreign_key="item.id", max_length=64)
    """The kernel; None for a control of a night."""
    control: str | None = Field(default=None, max_length=100)
    """Name of a control: `reference`, `zeros`, or `known-bad NAME`."""
    problem: str | None = Field(default=None, max_length=200)
    """Id of the problem that a control is about."""
    state: str = Field(max_length=16)
    hardware: str = Field(max_length=100)
    """Name of the device, such as `NVIDIA H200`."""
    reason: str = Field(default=OrderReason.REQUEST.value, max_length=20)
    """Why it was ordered."""
    actor: str | None = Field(default=None, max_length=200)
    night: str | None = Field(default=None, foreign_key="night.date", max_length=10)
    content_hash: str | None = Field(default=None, max_length=64)
    """Hash of the code that was judged; a run of other code says nothing of the present one."""
    attempts: int = 0
    """How often it was claimed. A verdict counts only under the number under which it was claimed."""
    lost: int = 0
    """How many of the attempts ended because their worker fell silent."""
    worker: str | None = Field(default=None, max_length=200)
    phase: str | None = Field(default=None, max_length=40)
    verdict: str | None = Field(default=None, max_length=40)
    speedup: Decimal | None = Field(default=None, sa_type=ExactDecimal)
    figures: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    fingerprint: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    queued_at: datetime = Field(sa_type=UtcDateTime)
    started_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    heartbeat_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
