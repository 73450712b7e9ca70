"""Table api_key: who may do what."""

from datetime import datetime

from sqlalchemy import JSON, Column, Index, text
from sqlmodel import Field

from app.models.base import Table
from app.models.columns import UtcDateTime


class ApiKeyRow(Table, table=True):
    """One key, by the hash of it: the key itself is shown once, when it is made, and kept nowhere."""

    __tablename__ = "api_key"
    __table_args__ = (
        # A name stands in the history for its holder, so two living keys never share one.
        Index(
            "uq_api_key_name_living",
            "name",
            unique=True,
            sqlite_where=text("revoked_at IS NULL"),
            postgresql_where=text("revoked_at IS NULL"),
        ),
    )

    id: str = Field(primary_key=True, max_length=64)
    """Public: part of the key, by which it is looked up."""
    name: str = Field(max_length=200)
    hash: str = Field(max_length=64)
    """SHA-256 of the whole key, in hex digits."""
    scopes: list[str] = Field(sa_column=Column(JSON, nullable=False))
    created_at: datetime = Field(sa_type=UtcDateTime)
    created_by: str = Field(max_length=200)
    expires_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    revoked_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    last_used_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    """To about a minute."""
