"""Table feedback: what readers said of the items they were shown."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column
from sqlmodel import Field

from app.models.base import Table
from app.models.columns import UtcDateTime


class FeedbackRow(Table, table=True):
    """One accepted piece of feedback, with the answer that was given to it."""

    __tablename__ = "feedback"

    id: str = Field(primary_key=True, max_length=64)
    idempotency_key: str | None = Field(default=None, max_length=300, unique=True)
    """The client's key, or one made of the context and the votes; a second piece with the same key counts nothing."""
    body_hash: str = Field(max_length=64)
    context_id: str | None = Field(default=None, max_length=64, index=True)
    reader: str | None = Field(default=None, max_length=200)
    task: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    outcome: dict[str, Any] | None = Field(default=None, sa_type=JSON)
    actor: str = Field(max_length=200)
    at: datetime = Field(sa_type=UtcDateTime)
    answer: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
