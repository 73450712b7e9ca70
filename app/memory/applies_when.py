"""When an item of the playbook helps: a record stored per item, parsed and checked against the vocabulary.

A curator's record says more than an item's opening sentence; where none exists, `derivation.derive` guesses one.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from app.memory.lexicon import Lexicon, load_lexicon

EVIDENCE_KINDS = frozenset({"win", "loss", "mixed", "none"})
DIMENSIONS = frozenset({"1d", "2d", "3d"})
MAX_TERMS = 24
MAX_LINE = 400


class RecordError(ValueError):
    """A record contradicts the vocabulary; `problems` lists every fault in words, each with its field."""

    def __init__(self, problems: Iterable[str]) -> None:
        """Join the faults into one message."""
        self.problems = tuple(problems)
        super().__init__("; ".join(self.problems))


@dataclass(frozen=True, slots=True)
class AppliesWhen:
    """The conditions under which an item applies, in the vocabulary's terms.

    `generic` items apply whatever the task computes. `families` has the primary family first. `required` holds when
    every
    term is present, a set term being present when any member is. `anchor` names what the item is about, `chain` the
    typical order. `excludes` may hold operations and regimes. At least one of `key_regimes`, if any, should hold.
    """

    generic: bool = False
    families: tuple[str, ...] = ()
    anchor: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    dims: tuple[str, ...] = ()
    regimes: tuple[str, ...] = ()
    key_regimes: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    companions: tuple[str, ...] = ()
    evidence: str = "none"
    one_line: str = ""

    def to_mapping(self) -> dict[str, Any]:
        """Return the record as JSON-ready values."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


_LISTS = tuple(f.name for f in fields(AppliesWhen) if f.name not in {"generic", "evidence", "one_line"})


def parse_record(data: Mapping[str, Any], lexicon: Lexicon | None = None) -> AppliesWhen:
    """Build a record from JSON values; an ``id`` beside the fields is ignored.

    Raises:
        RecordError: a field is unknown, of the wrong type, or names something the vocabulary does not have.
    """
    lexicon = lexicon or load_lexicon()
    known = {f.name for f in fields(AppliesWhen)}
    problems = [f"{name}: unknown field" for name in data if name not in known | {"id"}]
    values: dict[str, Any] = {}
    for name in _LISTS:
        value = data.get(name, ())
        if (
            isinstance(value, str)
            or not isinstance(value, (list, tuple))
            or not all(isinstance(term, str) for term in value)
        ):
            problems.append(f"{name}: must be a list of words")
            continue
        values[name] = tuple(value)
    if not isinstance(data.get("generic", False), bool):
        problems.append("generic: must be true or false")
    for name, default in (("evidence", "none"), ("one_line", "")):
        if not isinstance(data.get(name, default), str):
            problems.append(f"{name}: must be text")
    if problems:
        raise RecordError(problems)
    record = AppliesWhen(
        generic=data.get("generic", False),
        evidence=data.get("evidence", "none"),
        one_line=data.get("one_line", ""),
        **values,
    )
    if problems := list(faults(record, lexicon)):
        raise RecordError(problems)
    return record


def faults(record: AppliesWhen, lexicon: Lexicon) -> Iterable[str]:
    """Yield what is wrong with a record, each as ``field: reason``; nothing for a sound one."""
    for name in ("anchor", "chain", "required", "optional"):
        yield from _unknown(name, getattr(record, name), lexicon.operations, "operation")
    either = ChainMap[str, Any](dict(lexicon.operations), dict(lexicon.regimes)) if record.excludes else {}
    yield from _unknown("excludes", record.excludes, either, "operation or regime")
    yield from _unknown("families", record.families, lexicon.families, "family")
    for name in ("regimes", "key_regimes"):
        yield from _unknown(name, getattr(record, name), lexicon.regimes, "regime")
    yield from _unknown("topics", record.topics, lexicon.topics, "topic")
    yield from _unknown("dims", record.dims, DIMENSIONS, "number of dimensions")
    if record.evidence not in EVIDENCE_KINDS:
        yield f"evidence: '{record.evidence}' is none of {', '.join(sorted(EVIDENCE_KINDS))}"
    if both := set(record.required) & set(record.excludes):
        yield f"excludes: {', '.join(sorted(both))} is also required"
    if not record.generic and not (record.required or record.anchor or record.families):
        yield "required: an item that is not generic needs a family, an anchor or a required operation"
    for name in _LISTS:
        if len(getattr(record, name)) > MAX_TERMS:
            yield f"{name}: more than {MAX_TERMS} entries"
    if len(record.one_line) > MAX_LINE:
        yield f"one_line: longer than {MAX_LINE} characters"


def _unknown(field: str, terms: Iterable[str], known: Collection[str], what: str) -> Iterable[str]:
    for term in terms:
        if term not in known:
            near = sorted(known, key=lambda name: (-_shared(name, term), name))[0]
            yield f"{field}: '{term}' is no {what} of the vocabulary (nearest: '{near}')"


def _shared(left: str, right: str) -> float:
    pairs_left, pairs_right = ({word[i : i + 2] for i in range(len(word) - 1)} for word in (left, right))
    return 2 * len(pairs_left & pairs_right) / max(len(pairs_left) + len(pairs_right), 1)
