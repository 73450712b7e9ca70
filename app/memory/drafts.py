"""What an import brings, before it is known what the store already has."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from app.records import Baseline, CounterEvent, LineFault, Problem, Reader, RecordedRanking, Revision, Run
from app.vocabulary import ItemKind, ItemStatus


@dataclass(slots=True)
class ItemDraft:
    """An item as a source states it. `id` is None where the source gives none."""

    kind: ItemKind
    section: str
    text: str
    id: str | None = None
    position: int | None = None
    """Place within its kind; None leaves a known item where it is and puts a new one at the end."""
    status: ItemStatus = ItemStatus.ACTIVE
    helpful: int = 0
    harmful: int = 0
    text_without_figures: str | None = None
    correctness: bool | None = None
    prohibition: bool | None = None
    family: str | None = None
    source_problem: str | None = None
    claimed_speedup: Decimal | None = None
    claim_rank: int | None = None
    writer: str | None = None
    applies_when: Mapping[str, Any] | None = None
    demotions: Mapping[str, Any] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    kernel_source: str | None = None
    version: int | None = None
    """The version that a complete export states; None where the source knows no versions."""
    source_hash: str | None = None
    """Hash of what the item's own source said, where a complete export states it."""
    source_ids: tuple[str, ...] = ()
    """Ids under which a foreign source knows it; they recognise it at the next import. Its `id` is None then."""
    line: int = 0
    """Line of the file where the item begins, from 1."""


@dataclass(frozen=True, slots=True)
class RecordDraft:
    """When a known item applies, as a curator wrote it."""

    item_id: str
    values: Mapping[str, Any]
    line: int


@dataclass(slots=True)
class DocumentDraft:
    """All that one imported document says."""

    file: str
    items: list[ItemDraft] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    readers: list[Reader] = field(default_factory=list)
    baselines: list[Baseline] = field(default_factory=list)
    rankings: list[RecordedRanking] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    revisions: list[Revision] = field(default_factory=list)
    events: list[CounterEvent] = field(default_factory=list)
    redirects: dict[str, str] = field(default_factory=dict)
    records: list[RecordDraft] = field(default_factory=list)
    wording: dict[str, str] = field(default_factory=dict)
    faults: list[LineFault] = field(default_factory=list)
