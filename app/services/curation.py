"""Curation of single items: create, edit, retire, revert. Each one leaves a revision behind."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.errors import Conflict, InvalidInput, UnknownItem
from app.memory.applies_when import RecordError, parse_record
from app.memory.identity import normalised
from app.memory.kernels import kernel_code
from app.records import CounterEvent, Item, Revision
from app.retrieval.embedder import Embedder
from app.services.changes import Changes, with_state
from app.services.deriving import require_same_model, vector_of
from app.store import history, items
from app.store.database import Database
from app.vocabulary import ItemKind, ItemStatus, RevisionReason


@dataclass(frozen=True, slots=True)
class Curator:
    """Who curates, with what."""

    database: Database
    embedder: Embedder
    actor: str


def create(curator: Curator, kind: ItemKind, text: str, fields: Mapping[str, Any]) -> Item:
    """A new item at the end of its kind; DuplicateItem where the very text is there already.

    `fields` may hold section, status, family, source_problem, claimed_speedup, correctness, prohibition, applies_when,
    text_without_figures, provenance and, for a kernel, kernel_source.
    """
    require_vocabulary(fields)
    require_same_model(curator.database, curator.embedder)
    clean = normalised(text)
    vectors = {clean: vector_of(curator.embedder, clean)}
    with curator.database.write() as session:
        return Changes(session, curator.embedder, curator.actor, vectors).create(kind, text, fields)


def edit(curator: Curator, item_id: str, version: int, changes: Mapping[str, Any], note: str | None = None) -> Item:
    """The item with the given fields changed; StaleVersion where it is no longer at `version`."""
    require_vocabulary(changes)
    require_same_model(curator.database, curator.embedder)
    text = changes.get("text")
    vectors = {} if text is None else {normalised(text): vector_of(curator.embedder, normalised(text))}
    with curator.database.write() as session:
        return Changes(session, curator.embedder, curator.actor, vectors).change(
            item_id, lambda item: edited(item, changes), RevisionReason.EDIT, version=version, note=note
        )


def retire(curator: Curator, item_id: str, note: str | None = None) -> Item:
    """Takes an item out of every answer; its id and history stay. Retiring twice changes nothing."""
    with curator.database.write() as session:
        return Changes(session, curator.embedder, curator.actor).change(
            item_id, lambda item: replace(item, status=ItemStatus.RETIRED), RevisionReason.RETIRE, note=note
        )


def revert(curator: Curator, item_id: str, version: int, to_version: int, note: str | None = None) -> Item:
    """Brings back the state of an earlier version, as a new version. Counters are not touched."""
    with curator.database.write() as session:
        changes = Changes(session, curator.embedder, curator.actor)
        changes.known(item_id)
        states = {revision.version: revision.state for revision in history.revisions(session, item_id)}
        if to_version not in states:
            raise InvalidInput(f"{item_id} has no version {to_version}; it has {', '.join(map(str, states))}.")
        return changes.change(
            item_id,
            lambda item: with_state(item, states[to_version]),
            RevisionReason.REVERT,
            version=version,
            note=note,
            reverts=to_version,
        )


def revert_event(curator: Curator, item_id: str, uid: str, note: str | None = None) -> Item:
    """Takes back one change of an item's counters by an opposite one; Conflict where that was done before."""
    with curator.database.write() as session:
        changes = Changes(session, curator.embedder, curator.actor)
        changes.known(item_id)
        event = history.event(session, uid)
        if event is None or event.item_id != item_id:
            raise UnknownItem(f"{item_id} has no counter event {uid!r}.")
        if event.reverts is not None or history.is_taken_back(session, uid):
            raise Conflict(f"The event {uid} was taken back before, or takes back another one.")
        reason = note or "taken back"
        changes.vote(item_id, -event.helpful, -event.harmful, reader=event.reader, reason=reason, reverts=uid)
        session.expire_all()
        return changes.known(item_id)


def item_history(database: Database, item_id: str) -> tuple[list[Revision], list[CounterEvent]]:
    """Every revision and every counter event of an item, oldest first."""
    with database.read() as session:
        if items.get(session, item_id) is None:
            raise UnknownItem(f"There is no item {item_id!r}.")
        return history.revisions(session, item_id), history.events(session, item_id)


def edited(item: Item, changes: Mapping[str, Any]) -> Item:
    """The item with an edit's fields; InvalidInput where a field does not belong to its kind."""
    values = dict(changes)
    if "kernel_source" in values:
        source = values.pop("kernel_source")
        if item.kernel is None or not source:
            raise InvalidInput("Only a kernel has kernel_source, and it cannot be empty.")
        values["kernel"] = kernel_code(source)
        # What other code was demoted for says nothing of this code.
        values["demotions"] = None
    if "text" in values:
        values["text"] = normalised(values["text"])
    return replace(item, **values)


def require_vocabulary(fields: Mapping[str, Any]) -> None:
    """Raises InvalidInput where applies_when says something that the vocabulary does not have."""
    record = fields.get("applies_when")
    if record is None:
        return
    try:
        parse_record(record)
    except RecordError as fault:
        raise InvalidInput(f"applies_when: {fault}", problems=list(fault.problems)) from fault
