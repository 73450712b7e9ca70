"""Reads a task described in words: a request, a terse note, or a paraphrase in mathematics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app.memory.lexicon import Lexicon
from app.memory.lexicon.loader import DIMENSIONED
from app.memory.lexicon.words import Token, normalise, tokenise
from app.memory.task import matching
from app.memory.task.matching import Match

MAX_TOKENS = 1500
_FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "by",
        "can",
        "do",
        "for",
        "from",
        "get",
        "give",
        "given",
        "has",
        "have",
        "how",
        "i",
        "in",
        "into",
        "is",
        "it",
        "its",
        "let",
        "make",
        "me",
        "need",
        "of",
        "on",
        "or",
        "our",
        "out",
        "please",
        "so",
        "some",
        "than",
        "that",
        "the",
        "their",
        "them",
        "these",
        "this",
        "to",
        "use",
        "using",
        "want",
        "we",
        "were",
        "what",
        "when",
        "which",
        "will",
        "with",
        "write",
        "would",
        "you",
        "your",
        "each",
        "every",
        "all",
        "also",
        "any",
        "both",
        "but",
        "if",
        "only",
        "onto",
        "over",
        "per",
        "up",
        "via",
        "whose",
        "while",
        "where",
        "within",
        "after",
        "before",
        "then",
        "followed",
        "finally",
        "next",
        "faster",
        "fast",
        "fused",
        "fuse",
        "fusing",
        "custom",
        "kernel",
        "kernels",
        "triton",
        "cuda",
        "gpu",
        "pytorch",
        "torch",
        "eager",
        "implementation",
        "implement",
        "optimise",
        "optimize",
        "optimised",
        "module",
        "task",
        "input",
        "output",
        "result",
        "results",
        "tensor",
        "shape",
        "float32",
        "fp32",
        "float",
        "fp16",
        "bf16",
        "precision",
        "tolerance",
        "error",
        "match",
        "within",
        "reference",
        "speed",
        "accelerate",
        "forward",
        "pass",
        "quick",
        "quicker",
        "hand",
        "written",
        "beat",
        "beats",
        "version",
        "done",
        "whole",
        "against",
        "compared",
        "returning",
        "return",
        "calling",
        "call",
    ]
)
_THREE = re.compile(
    r"\b(?:3d|volum\w*|voxels?|cubes?|cubic|cdhw|ncdhw|3-d|depth height width|three dimensional|\d+x\d+x\d+)\b"
)
_ONE = re.compile(r"\b(?:1d|signals?|waveforms?|series|audio|1-d|one dimensional|time series|sequences?)\b")
_TWO = re.compile(r"\b(?:2d|images?|pictures?|pixels?|photos?|planes?|2-d|nchw|two dimensional|\d+x\d+)\b")


@dataclass(frozen=True, slots=True)
class ProseReading:
    """Operations found in order, the share of content words explained, and the words that stayed unexplained.

    `explained` is in [0, 1]. `unexplained` holds clause-size word runs for the embedding fallback.
    """

    matches: tuple[Match, ...]
    quotes: tuple[str, ...]
    explained: float
    content_words: int
    unexplained: tuple[tuple[int, str], ...]
    negated: tuple[str, ...]


def read_prose(text: str, lexicon: Lexicon) -> ProseReading:
    """Find the operations a text names or describes; an empty text gives an empty reading."""
    plain = normalise(text)
    tokens = tokenise(plain)[:MAX_TOKENS]
    free = [True] * len(tokens)
    negated = _negate(tokens, free, lexicon)
    chosen: list[Match] = []
    _take(matching.formulas(plain, tokens, free, lexicon), free, chosen)
    _take(matching.named(tokens, free, lexicon, weak=False), free, chosen)
    terse = _is_terse(tokens)
    if terse:
        _take(matching.named(tokens, free, lexicon, weak=True), free, chosen)
    _take(matching.phrased(tokens, free, lexicon), free, chosen)
    _take(matching.named(tokens, free, lexicon, weak=True), free, chosen)
    chosen.sort(key=lambda match: (match.start, match.end))
    matches = _resolved(_merged(chosen, tokens), plain, lexicon)
    covered = {index for match in chosen for index in match.tokens}
    content = [i for i, token in enumerate(tokens) if _is_content(token)]
    explained = sum(i in covered for i in content) / len(content) if content else 0.0
    quotes = tuple(" ".join(tokens[i].text for i in range(m.start, m.end)) for m in matches)
    return ProseReading(tuple(matches), quotes, explained, len(content), _unexplained(tokens, covered), negated)


def _is_content(token: Token) -> bool:
    return token.text[0].isalpha() and token.text not in _FUNCTION_WORDS


def _is_terse(tokens: Sequence[Token]) -> bool:
    words = [token.text for token in tokens if token.is_word]
    grammar = sum(
        word in {"the", "a", "an", "of", "its", "by", "is", "are", "that", "which", "and", "each"} for word in words
    )
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
    for start in range(len(tokens)):
        for phrase in lexicon.negations:
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
    """Join neighbouring matches of one operation that describe the same step twice."""
    merged: list[Match] = []
    for match in chosen:
        last = merged[-1] if merged else None
        if last is not None and last.operation == match.operation and "phrase" in {last.source, match.source}:
            between = [tokens[i] for i in range(last.end, match.start)]
            if not any(token.is_boundary or token.text == "and" for token in between) or last.source != match.source:
                merged[-1] = replace(last, end=max(last.end, match.end), tokens=last.tokens | match.tokens,
                                     certainty=max(last.certainty, match.certainty))  # fmt: skip
                continue
        merged.append(match)
    return merged


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
        return next(a or b for a, b in explicit) + "d"
    for pattern, name in ((_THREE, "3d"), (_TWO, "2d"), (_ONE, "1d")):
        if pattern.search(text):
            return name
    return ""


def _unexplained(tokens: Sequence[Token], covered: set[int]) -> tuple[tuple[int, str], ...]:
    """Return (place, words) for runs between clause boundaries in which most content words are unexplained."""
    runs: list[tuple[int, str]] = []
    start = 0
    for end in range(len(tokens) + 1):
        if end < len(tokens) and not tokens[end].is_boundary:
            continue
        content = [i for i in range(start, end) if _is_content(tokens[i])]
        loose = [i for i in content if i not in covered]
        if len(loose) >= 2 and len(loose) * 2 >= len(content):
            runs.append((start, " ".join(token.text for token in tokens[start:end])))
        start = end + 1
    return tuple(runs)
