"""Near-duplicates among items, by the words they share."""

import re
import sys
from collections.abc import Iterable
from functools import lru_cache

from app.records import Item

LIKENESS_SAME_SOURCE = 0.4
"""Share of common words from which two items on the same source problem count as the same advice."""

LIKENESS_ELSEWHERE = 0.8
"""The same for items of different sources, where more must agree."""

_WORD = re.compile(r"[a-z0-9_]+")
_FILLER = frozenset(
    "a an and are as at be by can do each for from has if in into is it its no not of on one only or over per so than "
    "that the then this to too two use via when where which with".split()
)


# The same items stand near the top of many rankings. Interned words keep the sets small.
@lru_cache(maxsize=4096)
def words(text: str) -> frozenset[str]:
    """The distinct words of a text that carry meaning, in lower case."""
    return frozenset(map(sys.intern, _WORD.findall(text.lower()))) - _FILLER


def likeness(left: frozenset[str], right: frozenset[str]) -> float:
    """Jaccard similarity of two word sets in [0, 1]."""
    shared = len(left & right)
    union = len(left) + len(right) - shared
    return shared / union if union else 0.0


class Repeats:
    """Tells items that repeat an earlier one of the same kind; the order of the calls decides which is the first."""

    def __init__(self) -> None:
        self._seen: list[tuple[Item, frozenset[str]]] = []

    def first_sight(self, item: Item) -> str | None:
        """None for an item that says something new, otherwise an explanation that names the earlier one."""
        own = words(item.text) if item.kernel is None else frozenset((item.kernel.content_hash,))
        for other, theirs in self._seen:
            if other.kind is item.kind and likeness(own, theirs) >= _enough(item, other):
                return f"says the same as {other.id}"
        self._seen.append((item, own))
        return None


def repeats_among(items: Iterable[Item]) -> dict[str, str]:
    """The items that repeat an earlier one: id -> explanation."""
    repeats = Repeats()
    return {item.id: told for item in items if (told := repeats.first_sight(item)) is not None}


def _enough(item: Item, other: Item) -> float:
    same_source = item.source_problem is not None and item.source_problem == other.source_problem
    return LIKENESS_SAME_SOURCE if same_source else LIKENESS_ELSEWHERE
