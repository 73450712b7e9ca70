"""Guesses an `AppliesWhen` record from an item's opening words, and joins it with a curator's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from app.memory.applies_when import AppliesWhen
from app.memory.lexicon import Lexicon, load_lexicon
from app.memory.lexicon.words import normalise
from app.memory.task.families import family_of_name, family_of_operations
from app.memory.task.names import read_problem_name
from app.memory.task.prose import read_prose
from app.memory.task.quantities import read_quantities

HEAD_CHARACTERS = 420
_PROBLEM = re.compile(r"\bL([123])_\d{3}\s*\((\w+)")
_FAMILY = re.compile(
    r"(conv_transpose|conv|matmul|network|attention|rnn|norm|pooling|reduction|activation|scan|loss)[- ]family"
)
_HABITS = re.compile(
    r"pitfall|submi(?:t|ssion)|compile|static[- ]check|tolerance|no_code|no_custom_kernel|debugging|portability|constexpr",
    re.IGNORECASE,
)
_OPTIONAL_KINDS = frozenset({"elementwise", "layout", "indexing"})
_GENERAL = {"conv": "any_convolution", "conv_transpose": "any_conv_transpose"}
MAX_REQUIRED = 4


def head(text: str) -> str:
    """Return the opening of an item: what it is for. At most `HEAD_CHARACTERS`, cut at a sentence if possible."""
    opening = text.strip()[:HEAD_CHARACTERS]
    paragraph = opening.split("\n\n")[0]
    end = max(paragraph.rfind(". "), paragraph.rfind(".\n"))
    return paragraph[: end + 1] if end > 120 else paragraph


def derive(text: str, family: str | None, source_problem_name: str | None) -> AppliesWhen:
    """Guess when an item applies from its head, its family and the problem it came from.

    A guess is never better than its head: required terms are general (``any_convolution``), pointwise steps stay optional,
    and an opening that talks of submitting or compiling and names no chain makes the item generic.
    """
    lexicon = load_lexicon()
    opening = head(text)
    found = _PROBLEM.search(opening)
    name = source_problem_name or (found.group(2) if found else None)
    level = int(found.group(1)) if found else None
    named = [use.name for use in read_problem_name(name, lexicon)[0]] if name else []
    spoken = [match.operation for match in read_prose(opening, lexicon).matches if match.certainty >= 0.75]
    chain = named or spoken
    habits = len(_HABITS.findall(opening[:160]))
    if not named and habits and len(chain) <= 2:
        return AppliesWhen(generic=True, families=_families(family, opening, None, level, [], lexicon), optional=tuple(dict.fromkeys(spoken)),
                           one_line=_line(opening))  # fmt: skip
    families = _families(family, opening, name, level, chain, lexicon)
    regimes = tuple(regime for regime, holds in read_quantities(normalise(opening)).regimes.items() if holds)
    required = _required(chain, lexicon)
    optional = tuple(dict.fromkeys(op for op in (*chain, *spoken) if op not in required))[:16]
    return AppliesWhen(families=families, anchor=required[:2], chain=tuple(chain)[:12], required=required, optional=optional,
                       regimes=regimes[:12], one_line=_line(opening))  # fmt: skip


def _line(opening: str) -> str:
    return re.sub(r"\s+", " ", opening)[:200]


def _families(
    family: str | None, opening: str, name: str | None, level: int | None, chain: Sequence[str], lexicon: Lexicon
) -> tuple[str, ...]:
    candidates = [
        family,
        *_FAMILY.findall(opening),
        family_of_name(name, level) if name else None,
        family_of_operations(chain, lexicon),
    ]
    return tuple(dict.fromkeys(f for f in candidates if f and f in lexicon.families))


def _required(chain: Sequence[str], lexicon: Lexicon) -> tuple[str, ...]:
    terms = []
    for operation in chain:
        kind = lexicon.kind(operation)
        if kind not in _OPTIONAL_KINDS:
            terms.append(_GENERAL.get(kind, operation))
    return tuple(dict.fromkeys(terms))[:MAX_REQUIRED]


def merge(curated: AppliesWhen | None, derived: AppliesWhen) -> AppliesWhen:
    """Return the curator's record with what only the derived one knows added as optional; without one, the derived record."""
    if curated is None:
        return derived
    extra = [
        term
        for term in (*derived.chain, *derived.optional)
        if term not in {*curated.optional, *curated.required, *curated.chain}
    ]
    return replace(
        curated,
        families=curated.families or (() if curated.generic else derived.families),
        optional=tuple(dict.fromkeys((*curated.optional, *extra)))[:24],
        one_line=curated.one_line or derived.one_line,
    )
