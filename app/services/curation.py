"""Curation of single items: create, edit, retire, revert. Each one leaves a revision behind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from app.errors import DuplicateItem, InvalidInput, StaleVersion, UnknownItem
from app.memory.applies_when import RecordError, parse_record
from app.memory.damage import damage
from app.memory.identity import normalised, text_hash
from app.memory.kernels import kernel_code
from app.records import CounterEvent, Item, Revision
from app.retrieval.embedder import Embedder, Vectors
from app.services.deriving import keep, require_same_model, vector_of
from app.store import corpus, history, items
from app.store.database import Database, Session
from app.vocabulary import DEFAULT_SECTIONS, ItemKind, ItemStatus, RevisionReason


@dataclass(frozen=True, slots=True)
class Curator:
    """Who curates, with what."""

    database: Database
    embedder: Embedder
    actor: str


def create(curator: Curator, kind: ItemKind, text: str, fields: Mapping[str, Any]) -> Item:
    """A new item at the end of its section; DuplicateItem where the very text is there already.

    `fields` may hold section, family, source_problem, claimed_speedup, correctness, prohibition, applies_when,
    text_without_figures, provenance and, for a kernel, kernel_source.
    """
    clean = normalised(text)
    _require_vocabulary(fields)
    vector = _vector(curator, clean)
    now = datetime.now(UTC)
    values = dict(fields)
    source = values.pop("kernel_source", None)
    if (kind is ItemKind.KERNEL) != (source is not None):
        raise InvalidInput("A kernel needs kernel_source; no other kind has one.")
    section = values.pop("section", None) or DEFAULT_SECTIONS[kind]
    with curator.database.write() as session:
        _refuse_duplicate(session, kind, clean, source)
        version = corpus.advance(session)
        item = Item(
            id=items.next_id(session, kind.id_prefix),
            kind=kind,
            section=section,
            position=items.last_position(session, kind) + 1,
            text=clean,
            content_hash=text_hash(clean),
            damage=damage(clean),
            created_at=now,
            updated_at=now,
            kernel=kernel_code(source) if source is not None else None,
            **values,
        )
        items.add(session, item, changed_in=version)
        session.flush()
        keep(session, curator.embedder, item, vector)
        _remember(session, curator, item, RevisionReason.CREATE, None)
    return item


def edit(curator: Curator, item_id: str, version: int, changes: Mapping[str, Any], note: str | None = None) -> Item:
    """The item with the given fields changed; StaleVersion where it is no longer at `version`."""
    _require_vocabulary(changes)

    def changed(item: Item) -> Item:
        values = dict(changes)
        if "kernel_source" in values:
            source = values.pop("kernel_source")
            if item.kernel is None or not source:
                raise InvalidInput("Only a kernel has kernel_source, and it cannot be empty.")
            values["kernel"] = kernel_code(source)
        if "text" in values:
            values["text"] = normalised(values["text"])
        return replace(item, **values)

    return _change(curator, item_id, version, changed, RevisionReason.EDIT, note)


def retire(curator: Curator, item_id: str, note: str | None = None) -> Item:
    """Takes an item out of every answer; its id and history stay. Retiring twice changes nothing."""
    with curator.database.read() as session:
        item = _known(session, item_id)
    if item.status is ItemStatus.RETIRED:
        return item
    retired: Callable[[Item], Item] = lambda known: replace(known, status=ItemStatus.RETIRED)  # noqa: E731
    return _change(curator, item_id, None, retired, RevisionReason.RETIRE, note)


def revert(curator: Curator, item_id: str, version: int, to_version: int, note: str | None = None) -> Item:
    """Brings back the state of an earlier version, as a new version. Counters are not touched."""
    with curator.database.read() as session:
        _known(session, item_id)
        states = {revision.version: revision.state for revision in history.revisions(session, item_id)}
    if to_version not in states:
        raise InvalidInput(f"{item_id} has no version {to_version}; it has {', '.join(map(str, states))}.")
    restored: Callable[[Item], Item] = lambda item: _with_state(item, states[to_version])  # noqa: E731
    return _change(curator, item_id, version, restored, RevisionReason.REVERT, note, reverts=to_version)


def item_history(database: Database, item_id: str) -> tuple[list[Revision], list[CounterEvent]]:
    """Every revision and every counter event of an item, oldest first."""
    with database.read() as session:
        _known(session, item_id)
        return history.revisions(session, item_id), history.events(session, item_id)


def _change(
    curator: Curator,
    item_id: str,
    version: int | None,
    changed: Callable[[Item], Item],
    reason: RevisionReason,
    note: str | None,
    reverts: int | None = None,
) -> Item:
    """Applies a change to the item as it stands in one transaction; the vector follows the text."""
    with curator.database.read() as session:
        proposed = changed(_known(session, item_id))
    vector = _vector(curator, proposed.text)
    with curator.database.write() as session:
        before = _known(session, item_id)
        if version is not None and before.version != version:
            raise StaleVersion(
                f"{item_id} is at version {before.version}, the request edits version {version}. Read it again.",
                current_version=before.version,
            )
        item = changed(before)
        if item == before:
            return before
        if item.text != before.text:
            _refuse_duplicate(session, item.kind, item.text, item.kernel.source if item.kernel else None)
            item = replace(item, content_hash=text_hash(item.text), damage=damage(item.text))
        item = replace(item, version=before.version + 1, updated_at=datetime.now(UTC))
        items.change(session, item, changed_in=corpus.advance(session))
        session.flush()
        if item.text == proposed.text:
            keep(session, curator.embedder, item, vector)
        _remember(session, curator, item, reason, note, reverts)
    return item


def _require_vocabulary(fields: Mapping[str, Any]) -> None:
    """Raises InvalidInput where applies_when says something that the vocabulary does not have."""
    record = fields.get("applies_when")
    if record is None:
        return
    try:
        parse_record(record)
    except RecordError as fault:
        raise InvalidInput(f"applies_when: {fault}", problems=list(fault.problems)) from fault


def _known(session: Session, item_id: str) -> Item:
    item = items.get(session, item_id)
    if item is None:
        raise UnknownItem(f"There is no item {item_id!r}.")
    return item


def _refuse_duplicate(session: Session, kind: ItemKind, text: str, kernel_source: str | None) -> None:
    twin = items.with_text(session, kind, text_hash(text)) if kernel_source is None else None
    if twin is not None:
        raise DuplicateItem(f"{twin} has this very text. Edit it, or vote for it, instead.", id=twin)


def _vector(curator: Curator, text: str) -> Vectors:
    require_same_model(curator.database, curator.embedder)
    return vector_of(curator.embedder, text)


def _remember(
    session: Session,
    curator: Curator,
    item: Item,
    reason: RevisionReason,
    note: str | None,
    reverts: int | None = None,
) -> None:
    state = history.state_of(item)
    at = item.updated_at or datetime.now(UTC)
    history.add_revision(
        session, Revision(item.id, item.version, reason, curator.actor, at, state, note=note, reverts=reverts)
    )


def _with_state(item: Item, state: Mapping[str, Any]) -> Item:
    """The item as a revision kept it; fields that the revision does not know stay."""
    values = {name: state[name] for name in history.EDITABLE if name in state}
    claimed, source = state.get("claimed_speedup"), state.get("kernel_source")
    return replace(
        item,
        **values,
        status=ItemStatus(state["status"]),
        claimed_speedup=None if claimed is None else Decimal(claimed),
        applies_when=state.get("applies_when"),
        kernel=kernel_code(source) if source else item.kernel,
    )
