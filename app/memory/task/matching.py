"""Finds operations in words: names and abbreviations, formula fragments, and everyday phrasings within a short window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.memory.lexicon import Lexicon, PhrasePattern
from app.memory.lexicon.words import Token

MAX_NAME_TOKENS = 7
WINDOW_SLACK = 5
_STOPS = frozenset({".", ";", ",", "->", "|", "then", "next", "finally", "afterwards", "followed"})

# Names that are also ordinary words. In running prose they only count where no phrasing claims them.
WEAK_NAMES = frozenset(
    {"max", "min", "mean", "sum", "drop", "se", "res", "dense", "scale", "scaling", "skip", "bias", "fire", "clip", "linear",
     "scaled", "lin", "sub", "mul", "div", "cat", "ce", "rms", "shortcut", "residual", "skips", "divide", "multiply", "diag",
     "affine", "projection", "product", "subtract", "triangular", "hinge", "triplet", "leaky", "conv", "transformer", "1x1",
     "huber", "frob", "kl", "sig", "prod", "gather", "mixer", "attention", "convolution", "convolutions", "mm"}
)  # fmt: skip


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
    for size in range(min(MAX_NAME_TOKENS, len(tokens) - start), 0, -1):
        if not all(free[start : start + size]):
            continue
        key = tuple(token.text for token in tokens[start : start + size])
        operation = lexicon.names.get(key) or lexicon.names.get((*key[:-1], key[-1].removesuffix("s")))
        if operation is None or (
            len(key) == 1 and (key[0] in WEAK_NAMES) != weak and not (weak and key[0] not in WEAK_NAMES)
        ):
            continue
        certainty = 0.8 if len(key) == 1 and key[0] in WEAK_NAMES else 1.0
        return Match(operation, start, start + size, frozenset(range(start, start + size)), certainty, "name")
    return None


def formulas(text: str, tokens: Sequence[Token], free: Sequence[bool], lexicon: Lexicon) -> Iterator[Match]:
    """Yield formula fragments such as ``x*sigmoid(x)`` or ``/2``."""
    for symbol in lexicon.symbols:
        for found in symbol.expression.finditer(text):
            span = [i for i, token in enumerate(tokens) if token.start < found.end() and token.end > found.start()]
            if span and all(free[i] for i in span):
                yield Match(symbol.operation, span[0], span[-1] + 1, frozenset(span), 0.95, "formula")


def phrased(tokens: Sequence[Token], free: Sequence[bool], lexicon: Lexicon) -> list[Match]:
    """Return the phrasings found, the most specific first; they may overlap, the caller chooses."""
    found: dict[tuple[str, int, int], Match] = {}
    for start, end in _segments(tokens):
        stems = [tokens[i].stem for i in range(start, end)]
        candidates = {id(p): p for stem in set(stems) for p in lexicon.patterns_by_stem.get(stem, ())}
        for pattern in candidates.values():
            match = _phrase(pattern, stems, start, free)
            if match is not None:
                key = (match.operation, match.start, match.end)
                if key not in found or found[key].certainty < match.certainty:
                    found[key] = match
    return sorted(found.values(), key=lambda m: (-len(m.tokens), m.end - m.start, m.start, m.operation))


def _segments(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    start = 0
    for index, token in enumerate(tokens):
        if token.text in _STOPS:
            if index > start:
                yield start, index
            start = index + 1
    if start < len(tokens):
        yield start, len(tokens)


def _phrase(pattern: PhrasePattern, stems: Sequence[str], offset: int, free: Sequence[bool]) -> Match | None:
    size = len(pattern.groups)
    if pattern.ordered:
        for start in range(len(stems) - size + 1):
            places = range(start, start + size)
            if all(stems[i] in group and free[offset + i] for i, group in zip(places, pattern.groups, strict=True)):
                return _match(pattern, frozenset(offset + i for i in places), 0.9)
        return None
    width = size + WINDOW_SLACK if size > 1 else 1
    best: frozenset[int] | None = None
    for start in range(len(stems)):
        if not any(stems[start] in group for group in pattern.groups) or not free[offset + start]:
            continue
        window = range(start, min(start + width, len(stems)))
        if any(stems[i] in pattern.forbidden for i in window):
            continue
        places = _assign(pattern.groups, stems, [i for i in window if free[offset + i]])
        if places is not None and (best is None or max(places) - min(places) < max(best) - min(best)):
            best = places
    if best is None:
        return None
    spread = max(best) - min(best) + 1
    return _match(pattern, frozenset(offset + i for i in best), 0.55 + 0.1 * min(size, 4) - 0.02 * (spread - size))


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
