"""References between items: ids that lead nowhere, and references in words.

A reference in words is "the <words> bullet" after a word that points (see, per, in, ...). It most likely means the item
whose opening holds most of those words, counted by rarity and double where they come first. `CERTAIN` of them name it
well enough to write its id into the text, provided that no other item comes as close as `LEAD` and every word is found
somewhere; `LIKELY` of them are worth a guess, if more than half of the words are found at all; below, the reference may
lead nowhere. Nouns that also mean other things (a shared memory, a release note) count only after "see".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.memory.findings.finding import Finding, listed, quoted
from app.memory.findings.reading import Reading, holders, rarities, stems
from app.memory.references import dangling_ids, referenced_ids
from app.records import Corpus
from app.vocabulary import FindingKind, ItemKind, ItemStatus

CERTAIN = 0.75
LEAD = 0.1
LIKELY = 0.4
OPENING = 160
"""Characters in which an item is called by its name."""

EARLY = 80
"""Of two items with the same words, the one that has them in its first characters is meant."""

_POINTS = r"see(?: also)?|per|cf\.?|as in|unlike|follow(?:ing)?|contrast(?:s)?(?: with)?"
_WHAT = r"(?P<{0}>(?:[^.,;:()\[\]\n]|\.(?=\w)){{2,70}}?)"
_PROSE = re.compile(
    rf"\b(?:{_POINTS})\b(?: [\w ]{{1,24}}(?: of| in))? the {_WHAT.format('any')} "
    r"(?P<noun>(?:pitfall |lesson |recipe )?(?:bullet|lesson|pitfall|recipe|memory|note|item))\b(?!\w)"
    rf"|\b(?:in|of|by|from|with|under) the {_WHAT.format('bullet')} (?:pitfall )?bullet\b",
    re.IGNORECASE,
)
_ID = re.compile(r"\b[a-z]{3}-\d{3,}\b")
_ID_FOLLOWS = re.compile(r"[\s,(]{0,3}[a-z]{3}-\d{3,}\b")


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A reference in words: where it ends in the text, how it reads, what it most likely means."""

    end: int
    words: str
    target: str | None
    certain: bool


def dangling_references(read: Sequence[Reading], corpus: Corpus) -> list[Finding]:
    """Items that name ids which no item has, or which are retired."""
    prefixes = {kind.id_prefix for kind in ItemKind}
    found = []
    for item in (reading.item for reading in read):
        missing = [each for each in dangling_ids(item.text, corpus.items) if each[:3] in prefixes]
        named = referenced_ids(item.text, own_id=item.id, known=corpus.items)
        retired = [each for each in named if corpus.items[each].status is ItemStatus.RETIRED]
        told = [f"{listed(missing)}, which no item has"] if missing else []
        told += [f"{listed(retired)}, retired"] if retired else []
        if told:
            found.append(
                Finding(FindingKind.DANGLING_REFERENCE, (item.id,), f"{item.id} refers to {' and '.join(told)}.")
            )
    return found


def prose_references(read: Sequence[Reading]) -> list[Finding]:
    """Items that refer to others in words, with what the words most likely mean; one finding per item that refers."""
    prose = [reading for reading in read if reading.is_prose]
    pointing = [(reading, mentions) for reading in prose if (mentions := list(_mentions(reading.item.text)))]
    if not pointing:
        return []
    names = _Names(prose)
    return [
        _finding(reading, [names.pointer(reading, match, wanted) for match, wanted in mentions])
        for reading, mentions in pointing
    ]


def _mentions(text: str) -> Iterator[tuple[re.Match[str], frozenset[str]]]:
    for match in _PROSE.finditer(text):
        what = match["any"] or match["bullet"]
        if (wanted := stems(what)) and not _ID.search(what) and not _ID_FOLLOWS.match(text, match.end()):
            yield match, wanted


class _Names:
    """What the items of a corpus are called: the stems of their openings."""

    def __init__(self, prose: Sequence[Reading]) -> None:
        self._items = [reading.item for reading in prose]
        self._kinds = {item.kind for item in self._items}
        self._named = [stems(item.text[:OPENING]) for item in self._items]
        self._early = [stems(item.text[:EARLY]) for item in self._items]
        self._rarity = rarities(self._named)
        self._places = holders(self._named)

    def pointer(self, source: Reading, match: re.Match[str], wanted: frozenset[str]) -> _Pointer:
        """What one reference most likely means."""
        noun = (match["noun"] or "bullet").split()[-1].lower()
        kinds = {kind for kind in self._kinds if kind.value == noun} or self._kinds
        known = wanted & self._rarity.keys()
        scored = []
        for number in {number for stem in known for number in self._places[stem]}:
            item = self._items[number]
            if item.kind in kinds and item.id != source.item.id:
                scored.append((self._score(number, known), item.id))
        scored.sort(key=lambda pair: (-pair[0], pair[1]))
        best, second = (*scored, (0.0, ""), (0.0, ""))[:2]
        target = best[1] if best[0] >= LIKELY and 2 * len(known) > len(wanted) else None
        certain = target is not None and known == wanted and best[0] >= CERTAIN and best[0] - second[0] >= LEAD
        return _Pointer(match.end(), match[0], target, certain)

    def _score(self, number: int, known: frozenset[str]) -> float:
        """Share of the known words in an opening, by weight, and again in its first line; in [0, 1]."""
        weigh = self._rarity.weigh
        return (weigh(known & self._named[number]) + weigh(known & self._early[number])) / (2 * weigh(known))


def _finding(source: Reading, pointers: Sequence[_Pointer]) -> Finding:
    item = source.item
    targets = tuple(dict.fromkeys(pointer.target for pointer in pointers if pointer.target))
    told = listed(
        dict.fromkeys(
            f"{quoted(pointer.words)} ({'most likely ' + pointer.target if pointer.target else 'no item fits'})"
            for pointer in pointers
        )
    )
    evidence = f"{item.id} refers to others in words: {told}. Words break when an item is edited; ids do not."
    operation: dict[str, Any] | None = None
    if all(pointer.certain for pointer in pointers):
        operation = {"op": "UPDATE", "id": item.id, "text": _with_ids(item.text, pointers)}
    return Finding(FindingKind.PROSE_REFERENCE, (item.id, *targets), evidence, operation)


def _with_ids(text: str, pointers: Sequence[_Pointer]) -> str:
    for pointer in sorted(pointers, key=lambda pointer: -pointer.end):
        text = f"{text[: pointer.end]} {pointer.target}{text[pointer.end :]}"
    return text
