"""A batch of curator operations: all of them or none, tried without effect on request, and undone as one."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.errors import Conflict, InvalidInput, PlaybookError, UnknownItem
from app.memory.identity import normalised
from app.records import Item
from app.services.changes import Changes, with_state
from app.services.curation import Curator, edited, require_vocabulary
from app.services.deriving import require_same_model, vector_of
from app.store import history, redirects
from app.store.database import Session
from app.vocabulary import ItemKind, ItemStatus, OperationKind, RevisionReason, Signal

MOST_OPERATIONS = 500


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. Which fields it needs depends on its kind; `app.api.operations` validates them."""

    op: OperationKind
    id: str | None = None
    ids: Sequence[str] = ()
    into: str | None = None
    text: str | None = None
    kind: ItemKind = ItemKind.BULLET
    version: int | None = None
    signal: Signal | None = None
    count: int = 1
    fields: Mapping[str, Any] = field(default_factory=dict)
    note: str | None = None


@dataclass(frozen=True, slots=True)
class OperationResult:
    """An item as an operation left it."""

    op: OperationKind
    item: Item


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What a batch did, or would do."""

    batch: str
    dry_run: bool
    results: tuple[OperationResult, ...]


class _DryRun(Exception):
    """Ends a transaction without effect; carries what would have been done."""

    def __init__(self, results: tuple[OperationResult, ...]) -> None:
        self.results = results


def apply(curator: Curator, operations: Sequence[Operation], *, dry_run: bool = False) -> BatchResult:
    """Applies a batch in one transaction. A fault names the operation by its number, from 1, and nothing is done."""
    if not 1 <= len(operations) <= MOST_OPERATIONS:
        raise InvalidInput(f"A batch holds 1 to {MOST_OPERATIONS} operations.")
    require_same_model(curator.database, curator.embedder)
    for operation in operations:
        require_vocabulary(operation.fields)
    texts = {normalised(operation.text) for operation in operations if operation.text}
    vectors = {text: vector_of(curator.embedder, text) for text in sorted(texts)}
    batch = f"batch-{uuid.uuid4().hex}"
    try:
        with curator.database.write() as session:
            changes = Changes(session, curator.embedder, curator.actor, vectors, batch)
            results = tuple(_numbered(changes, number, op) for number, op in enumerate(operations, start=1))
            if dry_run:
                raise _DryRun(results)
    except _DryRun as tried:
        return BatchResult(batch, True, tried.results)
    return BatchResult(batch, False, results)


def undo(curator: Curator, batch: str) -> BatchResult:
    """Takes a whole batch back; Conflict where one of its items was changed since."""
    with curator.database.write() as session:
        changes = Changes(session, curator.embedder, curator.actor, batch=f"undo-{batch}"[:64])
        revisions, events = history.revisions_of(session, batch), history.events_of(session, batch)
        if not revisions and not events:
            raise UnknownItem(f"There is no batch {batch!r}.")
        taken_back = [event for event in events if not history.is_taken_back(session, event.uid)]
        for event in taken_back:
            changes.vote(
                event.item_id,
                -event.helpful,
                -event.harmful,
                reader=event.reader,
                reason=f"undo of {batch}",
                reverts=event.uid,
            )
        merged = redirects.of_batch(session, batch)
        _refuse_merged_further(session, merged)
        redirects.remove(session, merged)
        newest: dict[str, int] = {}
        for revision in revisions:
            newest[revision.item_id] = max(revision.version, newest.get(revision.item_id, 0))
        first = {revision.item_id: revision.version for revision in revisions}
        results = [_restored(changes, item_id, first[item_id] - 1, newest[item_id]) for item_id in newest]
        if not taken_back and not results:
            raise Conflict(f"The batch {batch} was taken back before.")
    return BatchResult(batch, False, tuple(OperationResult(OperationKind.UPDATE, item) for item in results))


def _refuse_merged_further(session: Session, merged: Sequence[str]) -> None:
    """A merge whose survivor was merged away itself is undone after that one: the votes have moved on."""
    present = redirects.every(session)
    for old in merged:
        if present[old] in present:
            raise Conflict(f"{present[old]} was merged into {present[present[old]]} since. Undo that merge first.")


def _restored(changes: Changes, item_id: str, version: int, expected: int) -> Item:
    """The item as it was before a batch; one that the batch created is retired."""
    item = changes.known(item_id)
    if item.version != expected:
        raise Conflict(f"{item_id} was changed after the batch (version {item.version}); revert it by itself.")
    states = {revision.version: revision.state for revision in history.revisions(changes.session, item_id)}
    if version not in states:
        return changes.change(item_id, lambda it: replace(it, status=ItemStatus.RETIRED), RevisionReason.REVERT)
    return changes.change(item_id, lambda it: with_state(it, states[version]), RevisionReason.REVERT, reverts=version)


def _numbered(changes: Changes, number: int, operation: Operation) -> OperationResult:
    try:
        return OperationResult(operation.op, _applied(changes, operation))
    except PlaybookError as fault:
        fault.detail = f"operation {number} ({operation.op}): {fault.detail} Nothing of the batch was done."
        raise


def _applied(changes: Changes, operation: Operation) -> Item:
    item_id = operation.id or ""
    match operation.op:
        case OperationKind.ADD:
            return changes.create(operation.kind, operation.text or "", operation.fields)
        case OperationKind.UPDATE:
            fields = {**operation.fields, **({"text": operation.text} if operation.text else {})}
            return changes.change(
                item_id,
                lambda item: edited(item, fields),
                RevisionReason.EDIT,
                version=operation.version,
                note=operation.note,
            )
        case OperationKind.DELETE:
            return changes.change(
                item_id,
                lambda item: replace(item, status=ItemStatus.RETIRED),
                RevisionReason.RETIRE,
                note=operation.note,
            )
        case OperationKind.MERGE:
            return changes.merge(operation.ids, operation.into or "", operation.text, operation.note)
        case OperationKind.TAG:
            return _tagged(changes, operation)


def _tagged(changes: Changes, operation: Operation) -> Item:
    item = changes.known(operation.id or "")
    helpful = operation.count if operation.signal is Signal.HELPFUL else 0
    harmful = operation.count if operation.signal is Signal.HARMFUL else 0
    if item.helpful + helpful < 0 or item.harmful + harmful < 0:
        raise InvalidInput(f"{item.id} has {item.helpful} helpful and {item.harmful} harmful votes; none goes below 0.")
    counters = changes.vote(item.id, helpful, harmful, reason=operation.note)
    return replace(item, helpful=counters[0], harmful=counters[1])
