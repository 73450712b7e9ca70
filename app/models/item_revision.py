"""Table item_revision: every state that an item had."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, Text
from sqlmodel import Field

from app.models.base import Table
from app.models.columns import UtcDateTime, one_of
from app.vocabulary import RevisionReason


class ItemRevisionRow(Table, table=True):
    """The state of an item from one version on."""

    __tablename__ = "item_revision"
    __table_args__ = (one_of("reason", RevisionReason),)

    item_id: str = Field(primary_key=True, foreign_key="item.id", max_length=64)
    version: int = Field(primary_key=True)
    reason: str = Field(max_length=16)
    actor: str = Field(max_length=200)
    note: str | None = Field(default=None, sa_column=Column(Text))
    at: datetime = Field(sa_type=UtcDateTime)
    state: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    batch: str | None = Field(default=None, max_length=64, index=True)
    """The batch of operations that made this change."""
    reverts: int | None = None
    """Version whose state this revision brought back."""
