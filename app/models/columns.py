"""Column types that behave alike on SQLite and PostgreSQL, and the constraints that tables share."""

from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from sqlalchemy import CheckConstraint, DateTime, Dialect, Numeric, String, TypeDecorator
from sqlalchemy.types import TypeEngine


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC; SQLite forgets the offset, so it is put back on reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuses a moment without offset."""
        if value is not None and value.tzinfo is None:
            raise ValueError("a moment needs an offset")
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """The moment with UTC's offset."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class ExactDecimal(TypeDecorator[Decimal]):
    """A decimal that never passes through a float: NUMERIC, or its digits as text on SQLite."""

    impl = Numeric(18, 8)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Text on SQLite, which has no exact numbers."""
        return dialect.type_descriptor(String(40) if dialect.name == "sqlite" else Numeric(18, 8))

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> Any:
        """Digits without an exponent."""
        if value is None or dialect.name != "sqlite":
            return value
        return format(value, "f")

    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:
        """The decimal in its shortest form of at least two decimals, the same on every database."""
        if value is None:
            return None
        number = Decimal(value).normalize()
        exponent = number.as_tuple().exponent
        return number.quantize(Decimal("0.01")) if isinstance(exponent, int) and exponent > -2 else number


def one_of(column: str, words: type[StrEnum]) -> CheckConstraint:
    """The column holds one of the enum's words."""
    allowed = ", ".join(f"'{word.value}'" for word in words)
    return CheckConstraint(f"{column} IN ({allowed})", name=f"{column}_known")


def not_negative(column: str) -> CheckConstraint:
    """The column is zero or more."""
    return CheckConstraint(f"{column} >= 0", name=f"{column}_not_negative")


NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
"""Names of constraints, the same on every database, so that a migration can find them again."""
