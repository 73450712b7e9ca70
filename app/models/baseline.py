"""Table baseline: what a reader reaches without memory."""

from decimal import Decimal

from sqlalchemy import CheckConstraint, Index, text
from sqlmodel import Field

from app.models.base import Table
from app.models.columns import ExactDecimal


class BaselineRow(Table, table=True):
    """A mean speedup on one problem, or an average over a (family, level)."""

    __tablename__ = "baseline"
    __table_args__ = (
        CheckConstraint(
            "(problem IS NOT NULL AND family IS NULL AND level IS NULL)"
            " OR (problem IS NULL AND family IS NOT NULL AND level IS NOT NULL)",
            name="problem_or_pair",
        ),
        Index(
            "uq_baseline_reader_problem",
            "reader",
            "problem",
            unique=True,
            sqlite_where=text("problem IS NOT NULL"),
            postgresql_where=text("problem IS NOT NULL"),
        ),
        Index(
            "uq_baseline_reader_family_level",
            "reader",
            "family",
            "level",
            unique=True,
            sqlite_where=text("problem IS NULL"),
            postgresql_where=text("problem IS NULL"),
        ),
    )

    id: int | None = Field(default=None, primary_key=True)
    reader: str = Field(foreign_key="reader.name", max_length=100)
    problem: str | None = Field(default=None, foreign_key="problem.id", max_length=200)
    family: str | None = Field(default=None, max_length=40)
    level: int | None = None
    mean: Decimal = Field(sa_type=ExactDecimal)
    runs: int | None = None
    measured: bool = True
