"""Guesses an `AppliesWhen` record from an item's opening words, and joins it with a curator's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from app.memory.applies_when import AppliesWhen
from app.memory.lexicon import Lexicon, load_lexicon
from app.memory.lexicon.words import normalise
from app.memory.ranking.conditions import HARD_REGIMES
from app.memory.task.families import family_of_name, family_of_operations
from app.memory.task.names import read_problem_name
from app.memory.task.prose import read_prose
from app.memory.task.quantities import read_quantities

HEAD_CHARACTERS = 420
MAX_REQUIRED = 4
MAX_ANCHOR = 3
MAX_KEYS = 3
_PROBLEM = re.compile(r"\bL([123])_\d{3}\s*\((\w+)")
_FAMILY = re.compile(
    r"(conv_transpose|conv|matmul|network|attention|rnn|norm|pooling|reduction|activation|scan|loss)[- ]family"
)
_ARGUMENTS = re.compile(r"(?<=\w)\((?:[^()]|\([^()]*\))*\)")
_STATEMENT_END = re.compile(r"\s\(|[.:;](?:\s|$)|, KernelBench")
_EXAMPLE = re.compile(r"(?:\be\.g\.,?|\b[Ee]xamples?:|\b[Ff]or example,?)\s*(.+?)(?:\.\s|\n|$)", re.DOTALL)
_HABIT_TITLE = re.compile(r"^[^.:(]{0,60}\b(?:pitfall|format|debugging)\b", re.IGNORECASE)
_HABITS = re.compile(
    r"pitfall|submi(?:t|ssion)|compile|static[- ]check|tolerance|no_code|no_custom_kernel|debugging|portability"
    r"|constexpr",
    re.IGNORECASE,
)
_OPTIONAL_KINDS = frozenset({"elementwise", "layout", "indexing"})
_ALONE = {"conv": "any_convolution", "conv_transpose": "any_conv_transpose"}
_WITH_TAIL = {"conv": "any_convolution", "conv_transpose": "any_convolution"}
_SETS = {"max_pool": "any_max_pool", "avg_pool": "any_avg_pool", "gru": "any_gated_rnn", "lstm": "any_gated_rnn"}
_TAIL_FAMILIES = {"normalisation": "norm", "pooling": "pooling", "reduction": "reduction", "softmax": "softmax",
                  "elementwise": "activation"}  # fmt: skip


def head(text: str) -> str:
    """Return the opening of an item: what it is for. At most `HEAD_CHARACTERS`, cut at a sentence if possible."""
    opening = text.strip()[:HEAD_CHARACTERS]
    paragraph = opening.split("\n\n")[0]
    end = max(paragraph.rfind(". "), paragraph.rfind(".\n"))
    return paragraph[: end + 1] if end > 120 else paragraph


def lead(opening: str) -> str:
    """Return the chain itself: the first statement up to a parenthesis; arguments as in ``MaxPool2d(2)`` are left
    out.
    """
    return _STATEMENT_END.split(_ARGUMENTS.sub(" ", opening), maxsplit=1)[0]


def derive(text: str, family: str | None, source_problem_name: str | None) -> AppliesWhen:
    """Guess when an item applies from its head, its family and the problem it came from.

    A guess is never better than its head: required terms are general (``any_convolution``), pointwise steps stay
    optional, and an opening that talks of submitting or compiling and names no chain makes the item generic. The first
    example that the head gives says what a chain in general words looks like.
    """
    lexicon = load_lexicon()
    opening = head(text)
    found = _PROBLEM.search(opening)
    name = source_problem_name or (found.group(2) if found else None)
    level = int(found.group(1)) if found else None
    spoken = _chain(opening, lexicon)
    chain = [use.name for use in read_problem_name(name, lexicon)[0]] if name else []
    if not chain:
        chain = _chain(lead(opening), lexicon) or spoken
        if _HABIT_TITLE.search(opening) or (len(_HABITS.findall(opening[:160])) and len(spoken) <= 2):
            kin = tuple(dict.fromkeys(f for f in (family, *_FAMILY.findall(opening)) if f in lexicon.families))
            return AppliesWhen(
                generic=True, families=kin, optional=tuple(dict.fromkeys(spoken))[:16], one_line=_line(opening)
            )
    example = [] if name else _chain(_example(opening), lexicon)
    chain = _made_specific(chain, example, lexicon)
    required = _required(chain, lexicon)
    typical = example if len(set(example)) > len(set(chain)) else chain
    return AppliesWhen(
        families=_families(family, opening, name, level, chain, lexicon),
        anchor=tuple(dict.fromkeys((*_anchor(chain, lexicon), *example)))[:MAX_ANCHOR],
        chain=tuple(typical)[:12],
        required=required,
        optional=tuple(dict.fromkeys(op for op in (*chain, *spoken) if op not in required))[:16],
        regimes=_regimes(opening, lexicon)[:12],
        key_regimes=tuple(r for r in _regimes(lead(opening), lexicon) if r in HARD_REGIMES)[:MAX_KEYS],
        one_line=_line(opening),
    )


def _regimes(words: str, lexicon: Lexicon) -> tuple[str, ...]:
    return tuple(regime for regime, holds in read_quantities(normalise(words), lexicon).regimes.items() if holds)


def _example(opening: str) -> str:
    """Return the first example of an opening, after 'e.g.' or 'Example:'; '' without one."""
    found = _EXAMPLE.search(opening)
    return found.group(1) if found else ""


def _made_specific(chain: list[str], example: Sequence[str], lexicon: Lexicon) -> list[str]:
    """Return the special product of the example in place of a bare matrix product, else the chain."""
    special = [op for op in example if lexicon.kind(op) == "special_matrix"]
    return special[:1] if special and set(chain) == {"matmul"} else chain


def _chain(words: str, lexicon: Lexicon) -> list[str]:
    """Return the operations named in words, a library product beside a linear layer left out as the same thing."""
    found = [match.operation for match in read_prose(words, lexicon).matches if match.certainty >= 0.75]
    return [op for op in found if op != "matmul"] if "linear" in found else found


def _line(opening: str) -> str:
    return re.sub(r"\s+", " ", opening)[:200]


def _families(
    family: str | None, opening: str, name: str | None, level: int | None, chain: Sequence[str], lexicon: Lexicon
) -> tuple[str, ...]:
    """Return the families said or derived, then those of the tail."""
    distinct = list(dict.fromkeys(chain))
    said = [family, *_FAMILY.findall(opening), family_of_name(name, level) if name else None]
    derived = family_of_operations(distinct, lexicon)
    tail = [_TAIL_FAMILIES.get(lexicon.kind(op)) for op in distinct]
    candidates = [*said, derived if not any(said) else None, *tail]
    return tuple(dict.fromkeys(f for f in candidates if f and f in lexicon.families))[:5]


def _required(chain: Sequence[str], lexicon: Lexicon) -> tuple[str, ...]:
    """Return general terms for the costly operation and the tail, pointwise steps as one ``any_activation`` at most."""
    strong = [op for op in dict.fromkeys(chain) if lexicon.kind(op) not in _OPTIONAL_KINDS]
    general = _WITH_TAIL if len(set(chain)) > 1 else _ALONE
    terms = [general.get(lexicon.kind(op), _SETS.get(op.rstrip("123d"), op)) for op in strong]
    if len(strong) == 1 and any(lexicon.kind(op) == "elementwise" for op in chain):
        terms.append("any_activation")
    return tuple(dict.fromkeys(terms))[:MAX_REQUIRED]


def _anchor(chain: Sequence[str], lexicon: Lexicon) -> tuple[str, ...]:
    """Return what sets the item apart: its tail's norms, pools and reductions, else the costly operation."""
    distinct = list(dict.fromkeys(chain))
    tail = [op for op in distinct if _TAIL_FAMILIES.get(lexicon.kind(op)) not in (None, "activation")]
    return tuple(tail[:2] or distinct[:2])


def merge(curated: AppliesWhen | None, derived: AppliesWhen) -> AppliesWhen:
    """Return the curator's record with what only the derived one knows added as optional; without one, the derived
    record.
    """
    if curated is None:
        return derived
    if curated.generic:
        return replace(curated, one_line=curated.one_line or derived.one_line)
    extra = [
        term
        for term in (*derived.chain, *derived.optional)
        if term not in {*curated.optional, *curated.required, *curated.chain}
    ]
    return replace(
        curated,
        families=curated.families or derived.families,
        optional=tuple(dict.fromkeys((*curated.optional, *extra)))[:24],
        one_line=curated.one_line or derived.one_line,
    )
