"""Near-duplicates among items, by the words they share."""

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

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


PLACES = 2048
"""Length of a signature, in bits. A text has some hundred and fifty words, few of which share a place."""


@lru_cache(maxsize=4096)
def signature(text: str) -> int:
    """The places of a text's words as bits: what two texts share at most can be read off them without their words."""
    places = 0
    for word in words(text):
        places |= 1 << (hash(word) % PLACES)
    return places


def likeness(left: frozenset[str], right: frozenset[str]) -> float:
    """Jaccard similarity of two word sets in [0, 1]."""
    shared = len(left & right)
    union = len(left) + len(right) - shared
    return shared / union if union else 0.0


@dataclass(frozen=True, slots=True)
class _Seen:
    """An item that a later one might repeat."""

    item: Item
    words: frozenset[str]
    places: int

    @classmethod
    def of(cls, item: Item) -> Self:
        """The item by its words, or where it has code by the code as a whole."""
        if item.kernel is None:
            return cls(item, words(item.text), signature(item.text))
        return cls(item, frozenset((item.kernel.content_hash,)), 0)

    def repeats(self, other: Self) -> bool:
        """Whether both tell the same. Most pairs are told apart by their signatures."""
        if other.item.kind is not self.item.kind:
            return False
        enough = _enough(self.item, other.item)
        if self.places and other.places:
            # Words that share a place with another one of their own text may be shared unseen: they are added.
            most = (self.places & other.places).bit_count() + len(self.words) - self.places.bit_count()
            if most < enough * (len(self.words) + len(other.words) - most):
                return False
        return likeness(self.words, other.words) >= enough


class Repeats:
    """Tells items that repeat an earlier one of the same kind; the order of the calls decides which is the first."""

    def __init__(self) -> None:
        self._seen: list[_Seen] = []

    def first_sight(self, item: Item) -> str | None:
        """None for an item that says something new, otherwise an explanation that names the earlier one."""
        own = _Seen.of(item)
        for other in self._seen:
            if own.repeats(other):
                return f"says the same as {other.item.id}"
        self._seen.append(own)
        return None


def repeats_among(items: Iterable[Item]) -> dict[str, str]:
    """The items that repeat an earlier one: id -> explanation."""
    repeats = Repeats()
    return {item.id: told for item in items if (told := repeats.first_sight(item)) is not None}


def _enough(item: Item, other: Item) -> float:
    same_source = item.source_problem is not None and item.source_problem == other.source_problem
    return LIKENESS_SAME_SOURCE if same_source else LIKENESS_ELSEWHERE
