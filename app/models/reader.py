"""Table reader: a model that reads contexts."""

from sqlmodel import Field

from app.models.base import Table


class ReaderRow(Table, table=True):
    """One reader."""

    __tablename__ = "reader"

    name: str = Field(primary_key=True, max_length=100)
    display_name: str | None = Field(default=None, max_length=200)
