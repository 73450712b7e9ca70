"""What the rules read in an item, taken once: its words, its measured figures, the problem it reports on."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.memory.duplicates import words
from app.memory.lexicon.words import normalise, stem, tokenise
from app.records import Corpus, Item
from app.vocabulary import ItemKind, ItemStatus

OPENING = 250
"""Characters in which a text says what it is about."""

STEM_LENGTH = 6
"""Stems are compared up to here, so that noun, verb and participle of one word meet."""

_FIGURE = re.compile(r"(?<![\w.])\d+\.\d{2,}(?!\d|\.\d)")
_NAME = re.compile(r"\w+")
_FILLER = frozenset(
    "a all an and any are as at be by can do each either every few for from has have if in into is it its just many "
    "more most no not of on one only or other over own per same so some such than that the them then these they this "
    "those to too two use using via was were when where which while with without pitfall rule checker".split()
)


@dataclass(frozen=True, slots=True)
class Reading:
    """An item and what the rules compare."""

    item: Item
    words: frozenset[str]
    figures: frozenset[str]
    """Numbers with two decimals or more: measurements, which two texts share only if they tell of one experiment."""
    problem: str | None
    """The problem that the item reports on: its source, or the only one that its opening names."""

    @property
    def families(self) -> frozenset[str]:
        """The families that the item is for; empty where it says none."""
        if self.item.family:
            return frozenset((self.item.family,))
        named = (self.item.applies_when or {}).get("families") or ()
        return frozenset(name for name in named if isinstance(name, str))

    @property
    def is_prose(self) -> bool:
        """Whether the text is the item, as for all kinds but kernels."""
        return self.item.kind is not ItemKind.KERNEL


def readings(corpus: Corpus) -> list[Reading]:
    """The items that are not retired, by id."""
    live = [item for _, item in sorted(corpus.items.items()) if item.status is not ItemStatus.RETIRED]
    return [
        Reading(item, words(item.text), frozenset(_FIGURE.findall(item.text)), _problem(item, corpus)) for item in live
    ]


def problems_named(text: str, corpus: Corpus) -> list[str]:
    """The known problems that a text names, in the order of first mention."""
    return list(dict.fromkeys(name for name in _NAME.findall(text) if name in corpus.problems))


def _problem(item: Item, corpus: Corpus) -> str | None:
    if item.source_problem:
        return item.source_problem
    named = problems_named(item.text[:OPENING], corpus)
    return named[0] if len(named) == 1 else None


def stems(text: str) -> frozenset[str]:
    """Shortened stems of the words of a text that carry meaning; numbers left out."""
    return frozenset(
        stem(token.text)[:STEM_LENGTH]
        for token in tokenise(normalise(text))
        if token.is_word and len(token.text) > 1 and token.text not in _FILLER and not token.text[0].isdigit()
    )


class Rarities(dict[str, float]):
    """How much each word tells; a word that nobody uses counts as much as the rarest."""

    def __init__(self, rarity: Mapping[str, float]) -> None:
        super().__init__(rarity)
        self._unseen = max(rarity.values(), default=1.0)

    def __missing__(self, word: str) -> float:
        return self._unseen

    def weigh(self, members: Iterable[str]) -> float:
        """What some words tell together."""
        return math.fsum(self[word] for word in members)


def rarities(sets: Iterable[frozenset[str]]) -> Rarities:
    """The logarithm of one plus the inverse of the share of sets that hold a word."""
    counted: Counter[str] = Counter()
    total = 0
    for members in sets:
        total += 1
        counted.update(members)
    return Rarities({word: math.log(1 + total / number) for word, number in counted.items()})


def holders(sets: Iterable[frozenset[str]]) -> dict[str, list[int]]:
    """Word -> numbers of the sets that hold it, ascending."""
    places: dict[str, list[int]] = defaultdict(list)
    for number, members in enumerate(sets):
        for word in members:
            places[word].append(number)
    return places
