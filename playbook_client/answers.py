"""What the service answers, as frozen values. Fields that a newer service adds are left aside."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Answer:
    """Base: made from the JSON of an answer by the names of the fields."""

    @classmethod
    def of(cls, json: Mapping[str, Any]) -> Self:
        """The value of an answer."""
        return cls(**{entry.name: json[entry.name] for entry in fields(cls) if entry.name in json})


@dataclass(frozen=True, slots=True)
class SearchResult(Answer):
    """An item that helps."""

    id: str
    kind: str
    section: str
    text: str
    helpful: int
    harmful: int
    score: float
    """Absolute, comparable between searches, in [0, 1]."""
    family: str | None = None
    source_problem: str | None = None
    speedup: float | None = None
    """Claimed speedup over eager (a ratio)."""
    verification: Mapping[str, Any] | None = None
    score_details: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class SearchAnswer(Answer):
    """Items that help, best first."""

    retrieval_id: str
    """Send it with the feedback."""
    results: tuple[SearchResult, ...]
    total_candidates: int
    tokens: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    understood: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, json: Mapping[str, Any]) -> Self:
        """The value of an answer."""
        results = tuple(SearchResult.of(result) for result in json["results"])
        rest = {entry.name: json[entry.name] for entry in fields(cls) if entry.name in json}
        return cls(**{**rest, "results": results, "notes": tuple(json.get("notes", ()))})


@dataclass(frozen=True, slots=True)
class Context(Answer):
    """A text to put into a prompt."""

    context_id: str
    """Send it with the feedback."""
    policy: str
    reader: str
    text: str
    items: list[str]
    """Ids in the order in which they are shown."""
    tokens: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    explanations: list[Mapping[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Counters(Answer):
    """An item's counters after a vote."""

    id: str
    helpful: int
    harmful: int


@dataclass(frozen=True, slots=True)
class Feedback(Answer):
    """What became of the votes."""

    feedback_id: str
    applied: tuple[Counters, ...]
    unknown_ids: list[str]
    duplicate: bool
    """The same feedback was counted before; this time it counted nothing."""
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, json: Mapping[str, Any]) -> Self:
        """The value of an answer."""
        rest = {entry.name: json[entry.name] for entry in fields(cls) if entry.name in json}
        return cls(**{**rest, "applied": tuple(Counters.of(entry) for entry in json["applied"])})


@dataclass(frozen=True, slots=True)
class Item(Answer):
    """An item as it stands."""

    id: str
    kind: str
    section: str
    text: str
    status: str
    helpful: int
    harmful: int
    version: int
    family: str | None = None
    source_problem: str | None = None
    claimed_speedup: float | None = None
    applies_when: Mapping[str, Any] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    kernel: Mapping[str, Any] | None = None
    merged_into: str | None = None


@dataclass(frozen=True, slots=True)
class Measured(Answer):
    """The latest verification run of a kernel on one kind of hardware."""

    hardware: str
    verdict: str
    speedup: float | None = None
    """Median speedup over eager (a ratio); None where there is no figure."""
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Kernel(Answer):
    """A kernel: what it claims, what was measured, and its code where one kernel was asked for."""

    id: str
    status: str
    source_problem: str | None
    helpful: int
    harmful: int
    version: int
    text: str
    source: str | None = None
    language: str | None = None
    claimed_speedup: float | None = None
    measured: tuple[Measured, ...] = ()
    warnings: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, json: Mapping[str, Any]) -> Self:
        """The value of an answer, of a list or of one kernel."""
        code = json.get("kernel") or {}
        rest = {entry.name: json[entry.name] for entry in fields(cls) if entry.name in json}
        found = {
            "text": json.get("text") or json.get("title", ""),
            "source": code.get("source"),
            "language": code.get("language") or json.get("language"),
            "measured": tuple(Measured.of(entry) for entry in json.get("measured", ())),
        }
        return cls(**{**rest, **found})


@dataclass(frozen=True, slots=True)
class Run(Answer):
    """A verification run: queued, running or finished."""

    id: str
    state: str
    hardware: str
    item_id: str | None = None
    phase: str | None = None
    verdict: str | None = None
    speedup: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Imported(Answer):
    """What an import wrote."""

    added: int
    changed: int
    facts: int
    complete: bool
    """Whether every part of the file was taken; `faults` lists the others."""
    faults: list[Mapping[str, Any]]
    dry_run: bool = False
