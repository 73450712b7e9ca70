"""Filters: exact in what they mean, clear in what they refuse."""

from decimal import Decimal
from typing import Any

import pytest

from app.errors import InvalidInput
from app.memory.filters import compiled
from app.records import Item
from app.vocabulary import ItemKind

ITEM = Item(
    id="str-00001",
    kind=ItemKind.BULLET,
    section="strategies",
    position=0,
    text="Use a warp per row: 100% of the time_out.",
    helpful=3,
    harmful=1,
    family="conv",
    claimed_speedup=Decimal("2.29"),
)


@pytest.mark.parametrize(
    ("filters", "admitted"),
    [
        ({}, True),
        ({"kind": {"eq": "bullet"}}, True),
        ({"kind": {"ne": "bullet"}}, False),
        ({"kind": {"in": ["lesson", "bullet"]}, "helpful": {"gte": 3}}, True),
        ({"kind": {"nin": ["bullet"]}}, False),
        ({"helpful": {"gt": 3}}, False),
        ({"helpful": {"gte": 1, "lt": 3}}, False),
        ({"speedup": {"eq": 2.29}}, True),
        ({"speedup": {"lte": 2.28}}, False),
        ({"source_problem": {"eq": None}}, True),
        ({"text": {"contains": "WARP PER"}}, True),
        ({"text": {"contains": "warpgroup"}}, False),
        ({"text": {"contains": "100% of"}}, True),
        ({"text": {"contains": "100_of"}}, False),
        ({"text": {"contains": "%"}}, True),
        ({"section": {"eq": "' OR 1=1 --"}}, False),
        ({"AND": [{"helpful": {"gte": 1}}, {"harmful": {"gte": 2}}]}, False),
        ({"OR": [{"helpful": {"gte": 9}}, {"harmful": {"gte": 1}}]}, True),
        ({"NOT": [{"family": {"eq": "conv"}}]}, False),
        ({"NOT": [{"OR": [{"family": {"eq": "rnn"}}]}], "kind": {"eq": "bullet"}}, True),
    ],
)
def test_a_filter_admits_what_it_says(filters: dict[str, Any], admitted: bool) -> None:
    assert compiled(filters)(ITEM) is admitted


@pytest.mark.parametrize(
    ("filters", "reason"),
    [
        ({"colour": {"eq": "red"}}, "no field 'colour'"),
        ({"kind": {"like": "b"}}, "no operator 'like'"),
        ({"kind": "bullet"}, "is an object"),
        ({"kind": {}}, "is an object"),
        ({"helpful": {"gte": "3"}}, "finite number"),
        ({"helpful": {"gte": True}}, "finite number"),
        ({"helpful": {"eq": float("nan")}}, "finite number"),
        ({"text": {"gt": "a"}}, "compares numbers"),
        ({"helpful": {"contains": 3}}, "text with text"),
        ({"kind": {"in": "bullet"}}, "takes a list"),
        ({"kind": {"eq": {"a": 1}}}, "compares with"),
        ({"AND": {}}, "takes a list"),
        ({"OR": []}, "takes a list"),
        ({"OR": ["bullet"]}, "object of fields"),
    ],
)
def test_a_filter_that_means_nothing_is_refused_with_the_reason(filters: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        compiled(filters)


def test_filters_cannot_grow_without_bound() -> None:
    deep: dict[str, Any] = {"kind": {"eq": "bullet"}}
    for _ in range(20):
        deep = {"AND": [deep]}
    with pytest.raises(InvalidInput, match="nested"):
        compiled(deep)
    with pytest.raises(InvalidInput, match="at most 100"):
        compiled({"OR": [{"kind": {"eq": "bullet"}}] * 101})
