"""Finds operations in words: names and abbreviations, formula fragments, and everyday phrasings within a short
window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.memory.lexicon import Lexicon, PhrasePattern
from app.memory.lexicon.words import Token

WINDOW_SLACK = 5
BLOCK_SLACK = 18  # a whole block is described over more words than a step
_SENTENCE_STOPS = frozenset({".", ";", "->", "|"})
_CLAUSE_STOPS = _SENTENCE_STOPS | {",", "then", "next", "finally", "afterwards", "followed"}
_SENTENCE_KINDS = frozenset({"network_block", "attention", "recurrence"})  # described in more than one clause


@dataclass(frozen=True, slots=True)
class Match:
    """An operation seen at tokens [start, end): its name (possibly with ``{d}``), certainty in (0, 1] and source."""

    operation: str
    start: int
    end: int
    tokens: frozenset[int]
    certainty: float
    source: str


def named(tokens: Sequence[Token], free: Sequence[bool], lexicon: Lexicon, *, weak: bool) -> Iterator[Match]:
    """Yield names and abbreviations, the longest first at each place; weak ones only when asked for."""
    index = 0
    while index < len(tokens):
        match = _name_at(tokens, free, index, lexicon, weak=weak)
        if match is None:
            index += 1
        else:
            yield match
            index = match.end


def _name_at(
    tokens: Sequence[Token], free: Sequence[bool], start: int, lexicon: Lexicon, *, weak: bool
) -> Match | None:
    first = tokens[start].text
    longest = lexicon.longest_name.get(first) or lexicon.longest_name.get(first.removesuffix("s"), 0)
    for size in range(min(longest, len(tokens) - start), 0, -1):
        if not all(free[start : start + size]):
            continue
        key = tuple(token.text for token in tokens[start : start + size])
        if key in lexicon.silent:
            return Match("", start, start + size, frozenset(range(start, start + size)), 1.0, "silent")
        operation = lexicon.names.get(key) or lexicon.names.get((*key[:-1], key[-1].removesuffix("s")))
        doubtful = size == 1 and not lexicon.weak_names.isdisjoint({first, first.removesuffix("s")})
        if operation is None or (doubtful and not weak):
            continue
        certainty = 0.8 if doubtful else 1.0
        return Match(operation, start, start + size, frozenset(range(start, start + size)), certainty, "name")
    return None


def formulas(text: str, tokens: Sequence[Token], free: Sequence[bool], lexicon: Lexicon) -> Iterator[Match]:
    """Yield formula fragments such as ``x*sigmoid(x)`` or ``/2``."""
    for symbol in lexicon.symbols:
        for found in symbol.expression.finditer(text):
            span = [i for i, token in enumerate(tokens) if token.start < found.end() and token.end > found.start()]
            if span and all(free[i] for i in span):
                yield Match(symbol.operation, span[0], span[-1] + 1, frozenset(span), 0.95, "formula")


def phrased(
    tokens: Sequence[Token], free: Sequence[bool], open_to_blocks: Sequence[bool], lexicon: Lexicon
) -> list[Match]:
    """Return the phrasings found, the most specific first; they may overlap, the caller chooses.

    `free` marks words no name has claimed; descriptions of whole blocks may also use those of named parts, as far as
    `open_to_blocks` allows.
    """
    found: dict[tuple[str, int, int], Match] = {}
    spans = [(start, end, False) for start, end in _segments(tokens, _CLAUSE_STOPS)]
    spans += [(start, end, True) for start, end in _segments(tokens, _SENTENCE_STOPS)]
    for start, end, sentence in spans:
        words = [i for i in range(start, end) if tokens[i].is_word]
        stems = [tokens[i].stem for i in words]
        present = set(stems)
        candidates = {id(p): p for stem in present for p in lexicon.patterns_by_stem.get(stem, ())}
        for pattern in candidates.values():
            block = lexicon.kind(pattern.operation) in _SENTENCE_KINDS
            if (sentence and not block) or any(group.isdisjoint(present) for group in pattern.groups):
                continue
            usable = open_to_blocks if block else free
            slack = BLOCK_SLACK if block and (len(pattern.groups) >= 4 or pattern.order == "sequence") else WINDOW_SLACK
            match = _phrase(pattern, stems, words, usable, slack)
            if match is not None:
                key = (match.operation, match.start, match.end)
                if key not in found or found[key].certainty < match.certainty:
                    found[key] = match
    return sorted(found.values(), key=lambda m: (-len(m.tokens), m.end - m.start, m.start, m.operation))


def is_block(match: Match, lexicon: Lexicon) -> bool:
    """Whether a match describes a whole block, attention or recurrence, whose parts may be named as well."""
    return lexicon.kind(match.operation) in _SENTENCE_KINDS


def _segments(tokens: Sequence[Token], stops: frozenset[str]) -> Iterator[tuple[int, int]]:
    start = 0
    for index, token in enumerate(tokens):
        if token.text in stops:
            if index > start:
                yield start, index
            start = index + 1
    if start < len(tokens):
        yield start, len(tokens)


def _phrase(
    pattern: PhrasePattern, stems: Sequence[str], words: Sequence[int], usable: Sequence[bool], slack: int
) -> Match | None:
    """Match one pattern in a run of words; `words` gives the token index of each stem."""
    size = len(pattern.groups)
    if pattern.order == "contiguous":
        for start in range(len(stems) - size + 1):
            places = range(start, start + size)
            if all(stems[i] in group and usable[words[i]] for i, group in zip(places, pattern.groups, strict=True)):
                return _match(pattern, frozenset(words[i] for i in places), 0.9)
        return None
    width = size + slack if size > 1 else 1
    best: frozenset[int] | None = None
    for start in range(len(stems)):
        if not usable[words[start]] or not any(stems[start] in group for group in pattern.groups):
            continue
        window = range(start, min(start + width, len(stems)))
        after = window.stop + (size == 1)  # a single word looks at both neighbours
        if pattern.forbidden and any(stem in pattern.forbidden for stem in stems[max(start - 1, 0) : after]):
            continue
        free = [i for i in window if usable[words[i]]]
        places_found = (
            _in_order(pattern.groups, stems, free)
            if pattern.order == "sequence"
            else _assign(pattern.groups, stems, free)
        )
        if places_found is not None and (best is None or _spread(places_found) < _spread(best)):
            best = places_found
    if best is None:
        return None
    return _match(pattern, frozenset(words[i] for i in best), 0.55 + 0.1 * min(size, 4) - 0.02 * (_spread(best) - size))


def _spread(places: frozenset[int]) -> int:
    return max(places) - min(places) + 1


def _in_order(groups: Sequence[frozenset[str]], stems: Sequence[str], places: Sequence[int]) -> frozenset[int] | None:
    """Give each group the first fitting word after the previous group's; None when one stays empty."""
    taken: list[int] = []
    for group in groups:
        place = next((i for i in places if (not taken or i > taken[-1]) and stems[i] in group), None)
        if place is None:
            return None
        taken.append(place)
    return frozenset(taken)


def _assign(groups: Sequence[frozenset[str]], stems: Sequence[str], places: Sequence[int]) -> frozenset[int] | None:
    """Give each group its own word, rarest group first; None when one stays empty."""
    taken: set[int] = set()
    for group in sorted(groups, key=len):
        place = next((i for i in places if i not in taken and stems[i] in group), None)
        if place is None:
            return None
        taken.add(place)
    return frozenset(taken)


def _match(pattern: PhrasePattern, tokens: frozenset[int], certainty: float) -> Match:
    return Match(pattern.operation, min(tokens), max(tokens) + 1, tokens, round(min(certainty, 0.95), 3), "phrase")
