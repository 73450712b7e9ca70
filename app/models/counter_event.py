"""Table counter_event: every change of an item's counters. Append only."""

from datetime import datetime

from sqlalchemy import Column, Text
from sqlmodel import Field

from app.models.base import Table
from app.models.columns import UtcDateTime


class CounterEventRow(Table, table=True):
    """One change; an item's counters are the sums of its events. A neutral vote is an event that moves nothing."""

    __tablename__ = "counter_event"

    id: int | None = Field(default=None, primary_key=True)
    uid: str = Field(max_length=36, unique=True)
    """Name that stays the same when the event travels to another database."""
    item_id: str = Field(foreign_key="item.id", max_length=64, index=True)
    helpful: int = 0
    harmful: int = 0
    actor: str = Field(max_length=200)
    reader: str | None = Field(default=None, max_length=200)
    reason: str | None = Field(default=None, sa_column=Column(Text))
    feedback_id: str | None = Field(default=None, foreign_key="feedback.id", max_length=64, index=True)
    batch: str | None = Field(default=None, max_length=64, index=True)
    """The batch of operations that made this change."""
    reverts: str | None = Field(default=None, max_length=36, unique=True)
    """uid of the event that this one takes back; an event can be taken back once."""
    at: datetime = Field(sa_type=UtcDateTime)
