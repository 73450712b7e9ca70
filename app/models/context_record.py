"""Table context_record: what was shown, to whom, why."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column
from sqlmodel import Field

from app.models.base import Table
from app.models.columns import UtcDateTime, not_negative


class ContextRecordRow(Table, table=True):
    """One answer: a rendered context, or the results of a search."""

    __tablename__ = "context_record"
    __table_args__ = (not_negative("tokens"),)

    id: str = Field(primary_key=True, max_length=64)
    policy: str = Field(max_length=200)
    reader: str | None = Field(default=None, max_length=200)
    task: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    item_ids: list[str] = Field(sa_column=Column(JSON, nullable=False))
    """In the order shown."""
    tokens: int
    left_out: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    at: datetime = Field(sa_type=UtcDateTime)
