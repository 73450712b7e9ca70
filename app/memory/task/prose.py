"""Reads a task described in words: a request, a terse note, or a paraphrase in mathematics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from app.memory.lexicon import Lexicon
from app.memory.lexicon.loader import DIMENSIONED
from app.memory.lexicon.words import Token, normalise, tokenise
from app.memory.task import matching
from app.memory.task.consistency import consistent
from app.memory.task.matching import Match

MAX_TOKENS = 1500
_COMPARED = re.compile(r"\b(?:than|beats?|outperforms?|replac\w+) (?:torch|nn|f)\.[\w.]+")
_UNUSED = frozenset({"unused", "unapplied"})
# Words of sentences; a note leaves most of them out.
_GRAMMAR = frozenset(
    {"the", "a", "an", "of", "its", "by", "is", "are", "that", "which", "and", "each", "with", "to", "from", "into",
     "their", "them", "it", "does", "has", "have", "every", "at", "along"}
)  # fmt: skip
_THREE = re.compile(
    r"\b(?:3d|videos?|volum\w*|voxels?|cubes?|cubic|cdhw|ncdhw|3-d|depth height width|three dimensional|\d+x\d+x\d+)\b"
)
_ONE = re.compile(r"\b(?:1d|signals?|waveforms?|series|audio|1-d|one dimensional|time series|sequences?)\b")
_TWO = re.compile(r"\b(?:2d|images?|pictures?|pixels?|photos?|planes?|2-d|nchw|two dimensional|\d+x\d+)\b")


@dataclass(frozen=True, slots=True)
class ProseReading:
    """Operations found in order, the share of content words explained, and the words that stayed unexplained.

    `explained` is in [0, 1]. `unexplained` holds clause-size word runs for the embedding fallback. `dimensions` is
    ``1d``, ``2d``, ``3d`` or ''. `plain` is the text with its characters normalised.
    """

    matches: tuple[Match, ...]
    quotes: tuple[str, ...]
    explained: float
    content_words: int
    unexplained: tuple[tuple[int, str], ...]
    negated: tuple[str, ...]
    dimensions: str
    plain: str = ""


def read_prose(text: str, lexicon: Lexicon) -> ProseReading:
    """Find the operations a text names or describes; an empty text gives an empty reading."""
    plain = _COMPARED.sub(" ", normalise(text))
    tokens = tokenise(plain)[:MAX_TOKENS]
    free = [True] * len(tokens)
    negated = _negate(tokens, free, lexicon)
    positive = tuple(free)
    chosen: list[Match] = []
    _take(matching.formulas(plain, tokens, free, lexicon), free, chosen)
    _take(matching.named(tokens, free, lexicon, weak=False), free, chosen)
    terse = _is_terse(tokens)
    if terse:
        _take(matching.named(tokens, free, lexicon, weak=True), free, chosen)
    phrases = matching.phrased(tokens, free, positive, lexicon)
    blocks = [match for match in phrases if matching.is_block(match, lexicon)]
    _take([match for match in phrases if match not in blocks], free, chosen)
    _take(blocks, list(positive), chosen)
    _take(matching.named(tokens, free, lexicon, weak=True), free, chosen)
    chosen.sort(key=lambda match: (match.start, match.end))
    chosen = _sources_first(chosen, tokens, lexicon)
    matches = _resolved(
        consistent(
            _repeated(_merged([m for m in chosen if m.operation], tokens), tokens, lexicon), negated, plain, lexicon
        ),
        plain,
        lexicon,
    )
    covered = {index for match in chosen for index in match.tokens}
    content = [i for i, token in enumerate(tokens) if _is_content(token, lexicon)]
    explained = sum(i in covered for i in content) / len(content) if content else 0.0
    quotes = tuple(" ".join(tokens[i].text for i in range(m.start, m.end)) for m in matches)
    return ProseReading(
        tuple(matches),
        quotes,
        explained,
        len(content),
        _unexplained(tokens, covered, lexicon),
        negated,
        _dimensions(plain),
        plain,
    )


def _is_content(token: Token, lexicon: Lexicon) -> bool:
    return token.text[0].isalpha() and token.text not in lexicon.function_words


def _is_terse(tokens: Sequence[Token]) -> bool:
    words = [token.text for token in tokens if token.is_word]
    grammar = sum(word in _GRAMMAR for word in words)
    return len(words) <= 16 and grammar * 6 <= len(words)


def _take(found: Iterable[Match], free: list[bool], chosen: list[Match]) -> None:
    """Accept matches whose words are still free, in the order given, and claim their words."""
    for match in found:
        if all(free[i] for i in match.tokens):
            chosen.append(match)
            for index in match.tokens:
                free[index] = False


def _negate(tokens: Sequence[Token], free: list[bool], lexicon: Lexicon) -> tuple[str, ...]:
    """Claim the words that a negation removes ("no bias", "instead of softmax") and return what was removed."""
    removed: list[str] = []
    for place, token in enumerate(tokens):
        if token.text in _UNUSED:
            start = next((i + 1 for i in range(place, -1, -1) if tokens[i].text in {",", ";", ".", "("}), 0)
            free[start:place] = [False] * (place - start)
            removed.append(" ".join(token.text for token in tokens[start : place + 1]))
    for start in range(len(tokens)):
        for phrase in lexicon.negations.get(tokens[start].text, ()):
            size = len(phrase)
            if tuple(token.text for token in tokens[start : start + size]) != phrase or not free[start]:
                continue
            end = start + size
            while (
                end < len(tokens)
                and end < start + size + 4
                and not tokens[end].is_boundary
                and tokens[end].text not in {"and", "with", "but"}
            ):
                end += 1
            for index in range(start, end):
                free[index] = False
            removed.append(" ".join(token.text for token in tokens[start:end]))
            break
    return tuple(removed)


def _merged(chosen: Sequence[Match], tokens: Sequence[Token]) -> list[Match]:
    """Join neighbouring matches of one operation that describe the same step twice ("SiLU, i.e. z * sigmoid(z)")."""
    merged: list[Match] = []
    for match in chosen:
        last = merged[-1] if merged else None
        if last is not None and _one_noun_phrase(last, match, tokens):
            merged[-1] = replace(last, end=match.end, tokens=last.tokens | match.tokens)
            continue
        if last is not None and last.operation == match.operation and {last.source, match.source} != {"name"}:
            between = {tokens[i].text for i in range(last.end, match.start)}
            if not between & {"->", "then", "again", "another", "second", "more"} and match.start - last.end < 8:
                merged[-1] = replace(last, end=max(last.end, match.end), tokens=last.tokens | match.tokens,
                                     certainty=max(last.certainty, match.certainty))  # fmt: skip
                continue
        merged.append(match)
    return merged


def _one_noun_phrase(last: Match, match: Match, tokens: Sequence[Token]) -> bool:
    """Whether two names of one operation stand side by side ("dense affine layer"); one name twice means two steps."""
    words = [[tokens[i].text for i in range(m.start, m.end)] for m in (last, match)]
    return last.operation == match.operation and last.end == match.start and words[0] != words[1]


def _sources_first(matches: Sequence[Match], tokens: Sequence[Token], lexicon: Lexicon) -> list[Match]:
    """Put "the largest output of an affine layer" in order of execution: what follows "of" comes first."""
    ordered = list(matches)
    for place in range(1, len(ordered)):
        last, match = ordered[place - 1], ordered[place]
        between = [tokens[i] for i in range(last.end, match.start)]
        costly = lexicon.kind(match.operation.replace(DIMENSIONED, "2d")) in {"gemm", "conv", "conv_transpose"}
        if costly and any(t.text == "of" for t in between) and not any(t.is_boundary for t in between):
            ordered[place - 1], ordered[place] = match, last
    return ordered


def _repeated(matches: Sequence[Match], tokens: Sequence[Token], lexicon: Lexicon) -> list[Match]:
    """Double a pointwise or pooling step that the words say happens twice."""
    found: list[Match] = []
    for match in matches:
        found.append(match)
        near = [tokens[i].text for i in range(match.start, min(match.end + 4, len(tokens)))]
        twice = "twice" in near or ("two", "times") in pairwise(near)
        kind = lexicon.kind(match.operation.replace(DIMENSIONED, "2d"))
        if twice and kind in {"elementwise", "pooling"} and match.operation != "scalar_multiply":
            found.append(match)
    return found


def _resolved(matches: Sequence[Match], text: str, lexicon: Lexicon) -> list[Match]:
    """Give every ``{d}`` a number of dimensions, from its own words, else the text's, else what precedes it."""
    overall = _dimensions(text)
    resolved: list[Match] = []
    for match in matches:
        name = match.operation
        if DIMENSIONED in name:
            after_gemm = any(lexicon.kind(m.operation) in {"gemm"} for m in resolved)
            after_conv = any(lexicon.kind(m.operation) in {"conv", "conv_transpose"} for m in resolved)
            default = "1d" if "pool" in name and after_gemm and not after_conv else "2d"
            name = name.replace(DIMENSIONED, default if default == "1d" else overall or default)
        resolved.append(replace(match, operation=name))
    return resolved


def _dimensions(text: str) -> str:
    explicit = re.findall(
        r"(?:conv\w*|deconv|pool\w*|norm|c|t|dw)\s?([123])d\b|\b([123])d\s(?:\w+\s)?(?:conv|deconv|transposed|pool)",
        text,
    )
    if explicit:
        first, second = explicit[0]
        return f"{first or second}d"
    for pattern, name in ((_THREE, "3d"), (_TWO, "2d"), (_ONE, "1d")):
        if pattern.search(text):
            return name
    return ""


def _unexplained(tokens: Sequence[Token], covered: set[int], lexicon: Lexicon) -> tuple[tuple[int, str], ...]:
    """Return (place, words) for runs between clause boundaries in which most content words are unexplained."""
    runs: list[tuple[int, str]] = []
    start = 0
    for end in range(len(tokens) + 1):
        if end < len(tokens) and not tokens[end].is_boundary:
            continue
        content = [i for i in range(start, end) if _is_content(tokens[i], lexicon)]
        loose = [i for i in content if i not in covered]
        if len(loose) >= 2 and len(loose) * 2 >= len(content):
            runs.append((start, " ".join(token.text for token in tokens[start:end])))
        start = end + 1
    return tuple(runs)
