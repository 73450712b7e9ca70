"""Table wording: phrases of rendered contexts that an import brought."""

from sqlalchemy import Column, Text
from sqlmodel import Field

from app.models.base import Table


class WordingRow(Table, table=True):
    """The phrase for one place of a context."""

    __tablename__ = "wording"

    place: str = Field(primary_key=True, max_length=40)
    phrase: str = Field(sa_column=Column(Text, nullable=False))
