"""Table finding: something that a curator should look at."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, Text
from sqlmodel import Field

from app.models.base import Table
from app.models.columns import UtcDateTime, one_of
from app.vocabulary import FindingState


class FindingRow(Table, table=True):
    """One finding; its id is made of its kind and items, so the same thing is found once."""

    __tablename__ = "finding"
    __table_args__ = (one_of("state", FindingState),)

    id: str = Field(primary_key=True, max_length=64)
    kind: str = Field(max_length=40, index=True)
    item_ids: list[str] = Field(sa_column=Column(JSON, nullable=False))
    evidence: str = Field(sa_column=Column(Text, nullable=False))
    operation: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    state: str = Field(max_length=16, index=True)
    note: str | None = Field(default=None, sa_column=Column(Text))
    actor: str | None = Field(default=None, max_length=200)
    found_at: datetime = Field(sa_type=UtcDateTime)
    closed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
