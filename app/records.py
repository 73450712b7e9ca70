"""Frozen values that travel between layers. They hold what a row says, never how it is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from app.vocabulary import ItemKind, ItemStatus, KernelLanguage, OrderReason, Scope


@dataclass(frozen=True, slots=True)
class KernelCode:
    """The code behind an item of kind kernel."""

    source: str
    language: KernelLanguage
    entry_point: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class Item:
    """One thing worth remembering, as it stands at `version`."""

    id: str
    kind: ItemKind
    section: str
    position: int
    text: str
    status: ItemStatus = ItemStatus.ACTIVE
    helpful: int = 0
    harmful: int = 0
    text_without_figures: str | None = None
    """Hand-written variant that names no measurement; None where figures can be removed by rule."""
    correctness: bool | None = None
    """Advice about wrong or rejected results rather than about speed. None where it was never judged."""
    prohibition: bool | None = None
    """Advice that forbids an approach. None where it was never judged."""
    damage: str | None = None
    """What is broken in the text; such an item is never offered by a fresh ranking."""
    family: str | None = None
    source_problem: str | None = None
    """Problem the item was learned from; excluded when that very problem is asked for."""
    claimed_speedup: Decimal | None = None
    """Speedup over eager as its source claims it (a ratio), as exact as the source prints it."""
    claim_rank: int | None = None
    """Order by unrounded claim inside (kind, family): 1 is the fastest. Decides where claims print alike."""
    writer: str | None = None
    """Reader whose attempts the item was distilled from."""
    applies_when: Mapping[str, Any] | None = None
    demotions: Mapping[str, Any] | None = None
    """Hardware -> why this kernel is demoted there: the run that confirmed it, its verdict and figure."""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    content_hash: str = ""
    version: int = 1
    created_at: datetime | None = None
    updated_at: datetime | None = None
    kernel: KernelCode | None = None

    @property
    def shown(self) -> bool:
        """Whether the item may be shown at all."""
        return self.status is ItemStatus.ACTIVE


@dataclass(frozen=True, slots=True)
class Problem:
    """A task with a reference implementation."""

    id: str
    origin: str
    level: int
    number: int
    name: str
    family: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Reader:
    """A model that reads contexts."""

    name: str
    display_name: str | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a reader reaches without memory: its mean speedup (ratio, failed runs count 0, capped at 10).

    Either on one problem (`problem` set) or as an average over a (family, level).
    """

    reader: str
    mean: Decimal
    problem: str | None = None
    family: str | None = None
    level: int | None = None
    runs: int | None = None
    """Number of runs behind the mean; None where the source does not say."""
    measured: bool = True
    """False for a value that was inferred inside the bounds that its source leaves open."""


@dataclass(frozen=True, slots=True)
class RecordedRanking:
    """A ranking that was made elsewhere for one problem: item ids, best first."""

    source: str
    problem: str
    item_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Revision:
    """One state that an item had."""

    item_id: str
    version: int
    reason: str
    actor: str
    at: datetime
    state: Mapping[str, Any]
    note: str | None = None
    batch: str | None = None
    reverts: int | None = None


@dataclass(frozen=True, slots=True)
class CounterEvent:
    """One change of an item's counters; never edited."""

    uid: str
    item_id: str
    helpful: int
    harmful: int
    actor: str
    at: datetime
    reader: str | None = None
    reason: str | None = None
    feedback_id: str | None = None
    batch: str | None = None
    reverts: str | None = None
    """uid of the event that this one takes back."""


@dataclass(frozen=True, slots=True)
class ContextRecord:
    """What was shown, to whom, why."""

    id: str
    policy: str
    reader: str | None
    task: Mapping[str, Any]
    item_ids: tuple[str, ...]
    tokens: int
    left_out: Mapping[str, int]
    at: datetime


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """A finding with what became of it."""

    id: str
    kind: str
    item_ids: tuple[str, ...]
    evidence: str
    operation: Mapping[str, Any] | None
    state: str
    found_at: datetime
    note: str | None = None
    actor: str | None = None
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One verification run as it is stored; `speedup` only where the verdict allows a figure."""

    id: str
    item_id: str | None
    """The kernel; None for a control of a night."""
    state: str
    hardware: str
    verdict: str | None = None
    speedup: Decimal | None = None
    figures: Mapping[str, Any] | None = None
    fingerprint: Mapping[str, Any] | None = None
    finished_at: datetime | None = None
    content_hash: str | None = None
    """Hash of the code that was judged."""
    reason: str = OrderReason.REQUEST.value
    actor: str | None = None
    night: str | None = None
    control: str | None = None
    """Name of a control: `reference`, `zeros`, or `known-bad NAME`."""
    problem: str | None = None
    """Problem that a control is about."""
    attempts: int = 0
    lost: int = 0
    """Attempts that ended because their worker fell silent."""
    worker: str | None = None
    phase: str | None = None
    queued_at: datetime | None = None
    started_at: datetime | None = None
    heartbeat_at: datetime | None = None

    @property
    def evaluator(self) -> str | None:
        """Version of the evaluator that judged."""
        return (self.fingerprint or {}).get("evaluator")


@dataclass(frozen=True, slots=True)
class Night:
    """One nightly job; what the mappings hold is said where they are made (app.services.nightly)."""

    date: str
    state: str
    hardware: tuple[str, ...]
    plan: Mapping[str, Any]
    opened_by: str
    opened_at: datetime
    summary: Mapping[str, Any] | None = None
    closed_at: datetime | None = None
    notified_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that judges on one device."""

    name: str
    hardware: str
    evaluator: str
    started_at: datetime
    heartbeat_at: datetime
    stopped_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """Everything that can be ranked or shown, as it stood at one corpus version."""

    version: int
    items: Mapping[str, Item]
    problems: Mapping[str, Problem]
    readers: Mapping[str, Reader]
    baselines: Sequence[Baseline]
    rankings: Mapping[tuple[str, str], tuple[str, ...]]
    """(source, problem id) -> item ids, best first."""
    wording: Mapping[str, str]
    """Phrases of the rendered contexts that an import brought; see app.memory.wording."""
    measurements: "Mapping[str, Mapping[str, Measurement]]" = field(default_factory=dict)
    """Hardware -> item id -> latest finished verification run there."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """The latest verification of a kernel on one kind of hardware."""

    hardware: str
    verdict: str
    speedup: Decimal | None
    """Median speedup over eager (a ratio); None where the verdict allows no figure."""
    at: datetime | None = None

    def against(self, claimed: Decimal | None) -> str:
        """The measurement in words, beside the claim."""
        found = f"measured {self.speedup:.2f}x" if self.speedup is not None else f"judged {self.verdict}"
        claim = f", claimed {claimed:.2f}x" if claimed is not None else ""
        return f"{found} on {self.hardware}{claim}"


@dataclass(frozen=True, slots=True)
class Task:
    """What an agent asks about: a known problem, prose, code, or several of them."""

    problem_id: str | None = None
    text: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class LineFault:
    """A part of an imported file that was not taken, or was taken with a remark."""

    file: str
    line: int
    reason: str
    taken: bool = False
    """True when the content was taken all the same and the reason is only a remark."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request: the holder of a key, or anybody where keys are off (`key_id` None)."""

    key_id: str | None
    name: str
    """Stands in the history for the caller."""
    scopes: frozenset[Scope]

    def may(self, scope: Scope) -> bool:
        """Whether the scope was given; admin implies all."""
        return scope in self.scopes or Scope.ADMIN in self.scopes


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is kept: everything but the key itself."""

    id: str
    name: str
    scopes: frozenset[Scope]
    created_at: datetime
    created_by: str
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A key at the only moment at which it can be read."""

    id: str
    name: str
    key: str
    scopes: frozenset[Scope]
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One thing that somebody did; app.models.AuditEntryRow documents the fields."""

    at: datetime
    actor: str
    key_id: str | None
    action: str
    target: str
    status: int | None = None
    request_id: str | None = None
    address: str | None = None
