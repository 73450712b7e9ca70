"""Words of a task text: normalised characters, tokens with their places, and crude stems.

The stemmer joins British and American spelling (``normalise``, ``normalized``, ``normalisation``) and the usual
endings. It need not be linguistically right: patterns and texts go through the same function.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(r"[a-z]+(?:\d+[a-z]*)?|\d+x\d+(?:x\d+)?|\d+(?:\.\d+)?(?:e-?\d+)?d?|->|[^\s\w]")
_REPLACED = {
    "\u03a6": " normalcdf ",
    "\u2192": " -> ",
    "\u27f6": " -> ",
    "\u00b2": "^2",
    "\u00b3": "^3",
    "\u00d7": "x",
    "\u00b7": "*",
    "\u2013": "-",
    "\u2014": " - ",
    "\u2019": "'",
    "\u2212": "-",
    "\u00b1": " plusminus ",
    "\u03a3": " sum ",
    "\u2211": " sum ",
    "\u221a": " sqrt ",
}
_BOUNDARIES = frozenset(
    {
        ",",
        ";",
        ".",
        ":",
        "->",
        "(",
        ")",
        "|",
        "+",
        "then",
        "next",
        "finally",
        "followed",
        "afterwards",
        "before",
        "after",
        "whose",
    }
)
_ENDINGS = (
    ("isations", ""), ("izations", ""), ("isation", ""), ("ization", ""), ("ations", "at"), ("ation", "at"),
    ("ingly", ""), ("ings", ""), ("ing", ""), ("edly", ""), ("ies", "y"), ("ied", "y"), ("ed", ""), ("ly", ""), ("s",
    ""),
)  # fmt: skip
_WHOLE = frozenset({"transformer", "transformers", "running"})  # not a transform, not a run
_TAILS = (("ise", ""), ("ize", ""), ("is", ""), ("iz", ""), ("tre", "t"), ("tr", "t"), ("er", ""), ("e", ""))


NUMBER = "#"  # the stem of every number


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its text (lower case), its stem, and its character span in the normalised text."""

    text: str
    stem: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """Whether the token carries meaning of its own (letters or digits)."""
        return self.text[0].isalnum()

    @property
    def is_boundary(self) -> bool:
        """Whether a new clause may start here."""
        return self.text in _BOUNDARIES


def normalise(text: str) -> str:
    """Return text in lower case with plain ASCII forms of arrows, exponents and dashes; never raises."""
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", " ")
    for character, plain in _REPLACED.items():
        text = text.replace(character, plain)
    text = unicodedata.normalize("NFKC", text).lower()
    text = re.sub(r"\bln(?=\s*(?:\(\s*(?:1|e|sum)|sum\b))", "log", text)  # a logarithm, not a layer norm
    text = re.sub(r"\bup[- ](?=scal|sampl|siz)", "up", text)
    return re.sub(r"(?<=[a-z0-9])-(?=[a-z])", " ", text)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a stem shared by the inflected and the British and American forms of a lower-case word."""
    if word[0].isdigit() and "x" not in word:
        return NUMBER
    if len(word) <= 3 or not word.isalpha() or word in _WHOLE:
        return word.removesuffix("s") if word in _WHOLE else word
    base = _strip(_strip(word, _ENDINGS), _TAILS)
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "sl":
        base = base[:-1]
    return base.replace("our", "or") if len(base) > 5 else base


def _strip(word: str, endings: tuple[tuple[str, str], ...]) -> str:
    for ending, replacement in endings:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: len(word) - len(ending)] + replacement
    return word


def tokenise(text: str) -> tuple[Token, ...]:
    """Split a normalised text into tokens, punctuation included."""
    return tuple(Token(m.group(), stem(m.group()), m.start(), m.end()) for m in _TOKEN.finditer(text))
