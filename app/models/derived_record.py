"""Table derived_record: when an item applies, as it was read off its opening. Derived; can be made again."""

from typing import Any

from sqlalchemy import JSON, Column
from sqlmodel import Field

from app.models.base import Table


class DerivedRecordRow(Table, table=True):
    """The derived record of one item, with everything that it was derived from."""

    __tablename__ = "derived_record"

    item_id: str = Field(primary_key=True, foreign_key="item.id", max_length=64)
    content_hash: str = Field(max_length=64)
    family: str = Field(default="", max_length=40)
    source_problem: str = Field(default="", max_length=200)
    lexicon: str = Field(max_length=64)
    """Fingerprint of the vocabulary and of the rules that read texts."""
    record: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
