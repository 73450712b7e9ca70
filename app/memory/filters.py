"""Filters on items: `{"kind": {"eq": "bullet"}, "helpful": {"gte": 3}}` with AND, OR and NOT over lists of filters."""

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from app.errors import InvalidInput
from app.records import Item

Test = Callable[[Item], bool]

FIELDS: dict[str, Callable[[Item], Any]] = {
    "id": lambda item: item.id,
    "kind": lambda item: item.kind.value,
    "section": lambda item: item.section,
    "text": lambda item: item.text,
    "family": lambda item: item.family,
    "source_problem": lambda item: item.source_problem,
    "helpful": lambda item: item.helpful,
    "harmful": lambda item: item.harmful,
    "speedup": lambda item: item.claimed_speedup,
    "correctness": lambda item: item.correctness,
    "prohibition": lambda item: item.prohibition,
    "writer": lambda item: item.writer,
    "language": lambda item: item.kernel.language.value if item.kernel else None,
}
"""What can be filtered by, and how it is read off an item."""

_NUMERIC = frozenset({"helpful", "harmful", "speedup"})
_OPERATORS = ("eq", "ne", "in", "nin", "gt", "gte", "lt", "lte", "contains")
_DEEPEST = 8
_MOST_TESTS = 100


def compiled(filters: Mapping[str, Any] | None) -> Test:
    """One test for a filter; InvalidInput names what cannot be understood. No filter admits everything."""
    return _Compiler().all_of(filters or {}, depth=0)


class _Compiler:
    """Compiles a filter, counting tests so that no request can grow without bound."""

    def __init__(self) -> None:
        self._tests = 0

    def all_of(self, filters: Any, depth: int) -> Test:
        if not isinstance(filters, Mapping):
            raise InvalidInput(f"A filter is an object of fields, not {type(filters).__name__}.")
        if depth > _DEEPEST:
            raise InvalidInput(f"Filters are nested more than {_DEEPEST} deep.")
        tests = [self._entry(name, condition, depth) for name, condition in filters.items()]
        return lambda item: all(test(item) for test in tests)

    def _entry(self, name: str, condition: Any, depth: int) -> Test:
        if name in ("AND", "OR", "NOT"):
            if not isinstance(condition, list) or not condition:
                raise InvalidInput(f"{name} takes a list of one or more filters.")
            tests = [self.all_of(entry, depth + 1) for entry in condition]
            if name == "AND":
                return lambda item: all(test(item) for test in tests)
            matches_any: Test = lambda item: any(test(item) for test in tests)  # noqa: E731
            return matches_any if name == "OR" else lambda item: not matches_any(item)
        if name not in FIELDS:
            raise InvalidInput(
                f"There is no field {name!r} to filter by. Known: {', '.join(FIELDS)}.", known=list(FIELDS)
            )
        if not isinstance(condition, Mapping) or not condition:
            raise InvalidInput(f"The filter on {name!r} is an object such as {{'eq': ...}}.")
        comparisons = [self._comparison(name, operator, value) for operator, value in condition.items()]
        return lambda item: all(test(item) for test in comparisons)

    def _comparison(self, name: str, operator: str, value: Any) -> Test:
        self._tests += 1
        if self._tests > _MOST_TESTS:
            raise InvalidInput(f"A filter holds at most {_MOST_TESTS} comparisons.")
        read = FIELDS[name]
        if operator in ("in", "nin"):
            if not isinstance(value, list) or len(value) > 1000:
                raise InvalidInput(f"{operator!r} on {name!r} takes a list of at most 1000 values.")
            members = [_operand(name, entry) for entry in value]
            return (
                (lambda item: read(item) in members) if operator == "in" else (lambda item: read(item) not in members)
            )
        wanted = _operand(name, value)
        match operator:
            case "eq":
                return lambda item: bool(read(item) == wanted)
            case "ne":
                return lambda item: bool(read(item) != wanted)
            case "contains":
                return _contains(name, read, wanted)
            case "gt" | "gte" | "lt" | "lte":
                return _ordered(name, operator, read, wanted)
        raise InvalidInput(
            f"There is no operator {operator!r}. Known: {', '.join(_OPERATORS)}.", known=list(_OPERATORS)
        )


def _operand(name: str, value: Any) -> Any:
    """The value as it is compared: numbers as decimals, so that 2.29 equals 2.29."""
    if value is not None and not isinstance(value, str | bool | int | float):
        raise InvalidInput(f"The filter on {name!r} compares with text, a number, true, false or null.")
    if name in _NUMERIC and value is not None:
        if isinstance(value, bool | str) or not math.isfinite(value):
            raise InvalidInput(f"The filter on {name!r} compares with a finite number.")
        return Decimal(str(value))
    return value


def _contains(name: str, read: Callable[[Item], Any], wanted: Any) -> Test:
    """Plain text inside text, whatever the case; `%` and `_` mean themselves."""
    if not isinstance(wanted, str) or name in _NUMERIC:
        raise InvalidInput("'contains' compares text with text.")
    needle = wanted.casefold()
    return lambda item: needle in str(read(item) or "").casefold()


def _ordered(name: str, operator: str, read: Callable[[Item], Any], wanted: Any) -> Test:
    if name not in _NUMERIC or wanted is None:
        raise InvalidInput(f"{operator!r} compares numbers; it works on {', '.join(sorted(_NUMERIC))}.")
    compare: dict[str, Callable[[Any, Any], bool]] = {
        "gt": lambda a, b: a > b,
        "gte": lambda a, b: a >= b,
        "lt": lambda a, b: a < b,
        "lte": lambda a, b: a <= b,
    }
    test = compare[operator]
    return lambda item: (value := read(item)) is not None and test(value, wanted)
