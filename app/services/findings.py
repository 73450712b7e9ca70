"""Findings: computed from the whole corpus, kept with what became of them, and carried out on request."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from app.errors import Conflict, InvalidInput, UnknownItem
from app.memory.findings import Finding, find
from app.records import StoredFinding
from app.services.catalog import Catalog
from app.services.curation import Curator
from app.services.operations import BatchResult, Operation, apply
from app.store import findings
from app.store.database import Database
from app.vocabulary import FindingKind, FindingState, ItemStatus, OperationKind


def lint(database: Database, catalog: Catalog) -> list[StoredFinding]:
    """Computes all findings and keeps them: new ones open, ones that are no longer true gone. The open ones."""
    snapshot = catalog.current()
    found = find(snapshot.corpus, catalog.vectors())
    now = datetime.now(UTC)
    with database.write() as session:
        findings.put(session, [_stored(finding, now) for finding in found], now)
    return list_findings(database, state=FindingState.OPEN)


def list_findings(
    database: Database, *, state: FindingState | None = None, kinds: Iterable[FindingKind] = ()
) -> list[StoredFinding]:
    """Findings in the order of their kinds."""
    order = {kind.value: place for place, kind in enumerate(FindingKind)}
    with database.read() as session:
        found = findings.every(session, state=state, kinds=[kind.value for kind in kinds])
    return sorted(found, key=lambda finding: (order.get(finding.kind, len(order)), finding.item_ids))


def accept(curator: Curator, finding_id: str, note: str | None) -> BatchResult:
    """Carries out what an open finding proposes; InvalidInput where it proposes nothing."""
    finding = _open(curator.database, finding_id)
    if finding.operation is None:
        raise InvalidInput(
            f"The finding {finding_id} proposes no operation: decide, edit, and dismiss it with a reason."
        )
    return settle(curator, finding_id, _operation(finding.operation, note), note)


def settle(curator: Curator, finding_id: str, operation: Operation, note: str | None) -> BatchResult:
    """Carries out what a curator decided on an open finding, which may be other than what it proposes."""
    _open(curator.database, finding_id)
    done = apply(curator, [operation])
    _close(curator, finding_id, FindingState.ACCEPTED, note)
    return done


def dismiss(curator: Curator, finding_id: str, note: str) -> StoredFinding:
    """Closes an open finding that needs no change; it is not reported again."""
    _open(curator.database, finding_id)
    return _close(curator, finding_id, FindingState.DISMISSED, note)


def _stored(finding: Finding, now: datetime) -> StoredFinding:
    return StoredFinding(
        id=finding.key,
        kind=finding.kind.value,
        item_ids=finding.item_ids,
        evidence=finding.evidence,
        operation=finding.operation,
        state=FindingState.OPEN.value,
        found_at=now,
    )


def _open(database: Database, finding_id: str) -> StoredFinding:
    with database.read() as session:
        finding = findings.get(session, finding_id)
    if finding is None:
        raise UnknownItem(f"There is no finding {finding_id!r}.")
    if finding.state != FindingState.OPEN:
        raise Conflict(f"The finding {finding_id} is {finding.state}.")
    return finding


def _close(curator: Curator, finding_id: str, state: FindingState, note: str | None) -> StoredFinding:
    with curator.database.write() as session:
        findings.close(session, finding_id, state, note, curator.actor, datetime.now(UTC))
    with curator.database.read() as session:
        closed = findings.get(session, finding_id)
    if closed is None:
        raise UnknownItem(f"There is no finding {finding_id!r}.")
    return closed


def _operation(proposed: Mapping[str, Any], note: str | None) -> Operation:
    values = dict(proposed)
    kind = OperationKind(values.pop("op"))
    known = {name: values.pop(name) for name in ("id", "ids", "into", "text") if name in values}
    if "status" in values:
        values["status"] = ItemStatus(values["status"])
    return Operation(kind, **known, fields=values, note=note or "accepted finding")
