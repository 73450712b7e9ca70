"""Table item: one thing worth remembering."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import JSON, Column, Index, Text
from sqlmodel import Field

from app.models.base import Table
from app.models.columns import ExactDecimal, UtcDateTime, not_negative, one_of
from app.vocabulary import ItemKind, ItemStatus


class ItemRow(Table, table=True):
    """One item in its present state; app.records.Item documents the fields."""

    __tablename__ = "item"
    __table_args__ = (
        one_of("kind", ItemKind),
        one_of("status", ItemStatus),
        not_negative("helpful"),
        not_negative("harmful"),
        Index(None, "kind", "source_hash"),
        Index(None, "changed_in"),
        Index(None, "content_hash"),
    )

    id: str = Field(primary_key=True, max_length=64)
    kind: str = Field(max_length=16)
    section: str = Field(max_length=200)
    position: int
    text: str = Field(sa_column=Column(Text, nullable=False))
    status: str = Field(max_length=16)
    helpful: int = 0
    harmful: int = 0
    text_without_figures: str | None = Field(default=None, sa_column=Column(Text))
    correctness: bool | None = None
    prohibition: bool | None = None
    damage: str | None = Field(default=None, sa_column=Column(Text))
    family: str | None = Field(default=None, max_length=40)
    source_problem: str | None = Field(default=None, max_length=200)
    claimed_speedup: Decimal | None = Field(default=None, sa_type=ExactDecimal)
    claim_rank: int | None = None
    writer: str | None = Field(default=None, foreign_key="reader.name", max_length=100)
    applies_when: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    demotions: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    provenance: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    content_hash: str = Field(max_length=64)
    source_hash: str | None = Field(default=None, max_length=64)
    """Hash of the text as its source last gave it; differs from content_hash once a curator edited the item."""
    version: int = 1
    changed_in: int
    """Corpus version of the last change; what a server has not seen yet has a higher one than its own."""
    created_at: datetime = Field(sa_type=UtcDateTime)
    updated_at: datetime = Field(sa_type=UtcDateTime)
