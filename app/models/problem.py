"""Table problem: a task with a reference implementation."""

from sqlmodel import Field

from app.models.base import Table
from app.models.columns import not_negative


class ProblemRow(Table, table=True):
    """Facts of one problem."""

    __tablename__ = "problem"
    __table_args__ = (not_negative("level"), not_negative("number"))

    id: str = Field(primary_key=True, max_length=200)
    origin: str = Field(max_length=100)
    level: int
    number: int
    name: str = Field(max_length=300, index=True)
    family: str = Field(max_length=40)
    sha256: str | None = Field(default=None, max_length=64)
    """Hash of the problem's file."""
