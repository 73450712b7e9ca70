"""Table kernel: the code behind an item of kind kernel."""

from sqlalchemy import Column, Text
from sqlmodel import Field

from app.models.base import Table
from app.models.columns import one_of
from app.vocabulary import KernelLanguage


class KernelRow(Table, table=True):
    """Source code of one kernel, one to one with its item."""

    __tablename__ = "kernel"
    __table_args__ = (one_of("language", KernelLanguage),)

    item_id: str = Field(primary_key=True, foreign_key="item.id", max_length=64)
    language: str = Field(max_length=16)
    source: str = Field(sa_column=Column(Text, nullable=False))
    content_hash: str = Field(max_length=64, index=True)
    """Hash of the code alone."""
    entry_point: str = Field(max_length=100)
