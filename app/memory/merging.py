"""What an imported document changes, given what is known already. Pure: ids come from a callable."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from app.memory.applies_when import RecordError, parse_record
from app.memory.damage import damage
from app.memory.drafts import DocumentDraft, ItemDraft, RecordDraft
from app.memory.identity import content_hash, text_hash
from app.memory.kernels import kernel_code
from app.records import Item, LineFault, Problem
from app.vocabulary import ItemKind

Votes = tuple[int, int]
"""(helpful, harmful)."""

_TAKEN_WHERE_STATED = (
    "text_without_figures",
    "correctness",
    "prohibition",
    "family",
    "source_problem",
    "claimed_speedup",
    "claim_rank",
    "writer",
    "applies_when",
    "demotions",
)
"""Fields that a source may leave open: None says nothing, so it takes nothing away."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the store has, as far as an import has to match it."""

    items: Mapping[str, Item]
    source_hashes: Mapping[str, str | None]
    """Item id -> hash of the text as its source last gave it."""
    imported_votes: Mapping[str, Votes]
    """Item id -> votes that imports have credited it with."""
    problems: Mapping[str, Problem]
    curated: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Hash of a text -> a curator's record of when an item with that text applies."""


@dataclass(frozen=True, slots=True)
class Change:
    """An item as it shall be."""

    item: Item
    before: Item | None
    source_hash: str | None
    votes: Votes
    """Votes that the source counts beyond those that were credited before; negative where it counts fewer."""


@dataclass(slots=True)
class Plan:
    """The changes that a document asks for, and what could not be taken from it."""

    changes: list[Change] = field(default_factory=list)
    faults: list[LineFault] = field(default_factory=list)


class Merger:
    """Matches the drafts of one document with known items, one after the other."""

    def __init__(self, document: DocumentDraft, known: Known, new_id: Callable[[ItemKind], str], now: datetime) -> None:
        self._file = document.file
        self._known = known
        self._items = dict(known.items)
        self._hashes = dict(known.source_hashes)
        self._votes = dict(known.imported_votes)
        self._new_id = new_id
        self._now = now
        self._by_place = {
            _place(item.kind, item.family, item.source_problem, self._hashes.get(item.id)): item.id
            for item in known.items.values()
        }
        self._by_source = {key: item.id for item in known.items.values() for key in _source_keys(item.provenance)}
        self._drafts = document.items
        self._records = document.records
        self._with_events = {event.item_id for event in document.events}
        self._last: dict[ItemKind, int] = {}
        for item in known.items.values():
            self._last[item.kind] = max(self._last.get(item.kind, -1), item.position)
        self._plan = Plan()

    def plan(self) -> Plan:
        """All changes, in the document's order; a draft that says nothing new makes none."""
        for draft in self._drafts:
            self._take(draft)
        for record in self._records:
            self._take_record(record)
        return self._plan

    def _take_record(self, draft: RecordDraft) -> None:
        """A curated record for a known item; one for an unknown item, or outside the vocabulary, is a fault."""
        item = self._items.get(draft.item_id)
        try:
            record = parse_record(draft.values).to_mapping()
        except RecordError as fault:
            self._plan.faults.append(LineFault(self._file, draft.line, f"{draft.item_id}: {fault}"))
            return
        if item is None:
            self._plan.faults.append(LineFault(self._file, draft.line, f"there is no item {draft.item_id} here"))
        elif item.applies_when != record:
            changed = replace(item, applies_when=record)
            self._items[item.id] = changed
            self._plan.changes.append(Change(changed, item, self._hashes.get(item.id), (0, 0)))

    def _take(self, draft: ItemDraft) -> None:
        problem = self._known.problems.get(draft.source_problem or "")
        draft = replace(draft, family=draft.family or (problem.family if problem else None))
        if draft.applies_when is not None:
            draft = replace(draft, applies_when=self._in_vocabulary(draft))
        source_hash = _source_hash(draft) if draft.version is None else draft.source_hash
        place = _place(draft.kind, draft.family, draft.source_problem, source_hash)
        if draft.source_ids:
            draft = replace(draft, provenance={**draft.provenance, "source_ids": list(draft.source_ids)})
        keys = _source_keys(draft.provenance) if draft.source_ids else []
        known = next((self._by_source[key] for key in keys if key in self._by_source), None)
        item_id = draft.id or known or self._by_place.get(place)
        before = self._items.get(item_id) if item_id else None
        if before is None:
            record = draft.applies_when or self._known.curated.get(text_hash(draft.text))
            new = replace(draft, applies_when=record)
            item = _new(new, item_id or self._new_id(draft.kind), self._position(draft), self._now)
        elif before.kind is not draft.kind:
            self._fault(draft, f"{before.id} is a {before.kind} here and a {draft.kind} there; it was not taken")
            return
        elif draft.version is not None:
            item = before if draft.version <= before.version else self._newer(draft, before)
        else:
            item = self._updated(draft, before, source_hash)
        credited = self._votes.get(item.id, (0, 0))
        votes = (draft.helpful - credited[0], draft.harmful - credited[1])
        if draft.id in self._with_events:
            votes = (0, 0)  # they come one by one, as events
        if before is not None and item == before and votes == (0, 0) and self._hashes.get(item.id) == source_hash:
            return
        self._items[item.id] = item
        self._hashes[item.id] = source_hash
        self._votes[item.id] = (draft.helpful, draft.harmful)
        self._by_place[place] = item.id
        self._by_source.update(dict.fromkeys(keys, item.id))
        self._plan.changes.append(Change(item, before, source_hash, votes))

    def _updated(self, draft: ItemDraft, before: Item, source_hash: str | None) -> Item:
        """The known item with what the draft states; text that a curator edited stays when its source changes, too."""
        stated = {name: value for name in _TAKEN_WHERE_STATED if (value := getattr(draft, name)) is not None}
        position = before.position if draft.position is None else draft.position
        item = replace(before, section=draft.section, position=position, **stated)
        known_hash = self._hashes.get(before.id)
        if source_hash == known_hash:
            return item
        if _hash_of(before) != known_hash:
            reason = f"{before.id} was edited here and has changed in its source; the edited text was kept"
            self._fault(draft, reason, taken=True)
            return item
        return replace(item, **_content(draft))

    def _newer(self, draft: ItemDraft, before: Item) -> Item:
        """The item as a later version of a complete export states it."""
        position = before.position if draft.position is None else draft.position
        new = _new(draft, before.id, position, self._now)
        return replace(new, helpful=before.helpful, harmful=before.harmful, created_at=before.created_at)

    def _in_vocabulary(self, draft: ItemDraft) -> Mapping[str, Any] | None:
        """The record of when the item applies; what the vocabulary does not have is reported and left out."""
        try:
            parse_record(draft.applies_when or {})
        except RecordError as fault:
            self._fault(draft, f"applies_when was not taken: {fault}", taken=True)
            return None
        return draft.applies_when

    def _position(self, draft: ItemDraft) -> int:
        last = self._last.get(draft.kind, -1)
        position = last + 1 if draft.position is None else draft.position
        self._last[draft.kind] = max(last, position)
        return position

    def _fault(self, draft: ItemDraft, reason: str, *, taken: bool = False) -> None:
        self._plan.faults.append(LineFault(self._file, draft.line, reason, taken=taken))


def unedited(items: Iterable[Item], source_hashes: Mapping[str, str | None]) -> list[Item]:
    """The items that still say what their source said."""
    return [item for item in items if _hash_of(item) == source_hashes.get(item.id)]


def _new(draft: ItemDraft, item_id: str, position: int, now: datetime) -> Item:
    stated = {name: getattr(draft, name) for name in _TAKEN_WHERE_STATED}
    return Item(
        id=item_id,
        kind=draft.kind,
        section=draft.section,
        position=position,
        status=draft.status,
        version=draft.version or 1,
        provenance=dict(draft.provenance),
        created_at=now,
        updated_at=now,
        **_content(draft),
        **stated,
    )


def _content(draft: ItemDraft) -> dict[str, Any]:
    return {
        "text": draft.text,
        "content_hash": text_hash(draft.text),
        "damage": damage(draft.text),
        "kernel": None if draft.kernel_source is None else kernel_code(draft.kernel_source),
    }


def _place(kind: ItemKind, family: str | None, source_problem: str | None, source_hash: str | None) -> tuple[str, ...]:
    """What an item without an id in its source is recognised by."""
    return (kind, family or "", source_problem or "", source_hash or "")


def _source_keys(provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What an item of a foreign source is recognised by: where it comes from, and the ids that it has there."""
    ids = provenance.get("source_ids")
    return [(str(provenance.get("origin")), str(given)) for given in ids] if isinstance(ids, list) else []


def _source_hash(draft: ItemDraft) -> str:
    return _hash(draft.text, draft.kernel_source)


def _hash_of(item: Item) -> str:
    return _hash(item.text, item.kernel.source if item.kernel else None)


def _hash(text: str, kernel_source: str | None) -> str:
    return text_hash(text) if kernel_source is None else content_hash(text_hash(text), kernel_source)
