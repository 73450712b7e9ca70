"""Table night: one nightly job a date. Whoever inserts the row, or moves its state on, does the step; no one else."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column
from sqlmodel import Field

from app.models.base import Table
from app.models.columns import UtcDateTime, one_of
from app.vocabulary import NightState


class NightRow(Table, table=True):
    """One night; its date is its key, so that two schedulers cannot both begin it."""

    __tablename__ = "night"
    __table_args__ = (one_of("state", NightState),)

    date: str = Field(primary_key=True, max_length=10)
    """`2026-11-30`, in UTC."""
    state: str = Field(max_length=16)
    hardware: list[str] = Field(sa_column=Column(JSON, nullable=False))
    plan: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    """What is due and why, what cannot be judged, the evaluator, and the state of each kernel before."""
    summary: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    opened_by: str = Field(max_length=200)
    opened_at: datetime = Field(sa_type=UtcDateTime)
    closed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    notified_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    """When the webhook took the news; None where there was none to tell, or it is still to be told."""
