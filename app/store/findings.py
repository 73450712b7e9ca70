"""Findings and what became of them."""

from collections.abc import Iterable
from datetime import datetime

from sqlmodel import Session, col, select

from app.models import FindingRow
from app.records import StoredFinding
from app.vocabulary import FindingState


def put(session: Session, found: Iterable[StoredFinding], now: datetime) -> None:
    """Adds new findings; open ones that are not found any more are gone; closed ones stay closed."""
    known = {row.id: row for row in session.exec(select(FindingRow))}
    seen = set()
    for finding in found:
        seen.add(finding.id)
        row = known.get(finding.id)
        if row is None:
            values = {name: getattr(finding, name) for name in StoredFinding.__slots__}
            operation = None if finding.operation is None else dict(finding.operation)
            session.add(FindingRow(**{**values, "item_ids": list(finding.item_ids), "operation": operation}))
        elif row.state in (FindingState.OPEN, FindingState.GONE):
            row.evidence = finding.evidence
            row.operation = None if finding.operation is None else dict(finding.operation)
            row.state, row.closed_at = FindingState.OPEN, None
    for row in known.values():
        if row.id not in seen and row.state == FindingState.OPEN:
            row.state, row.closed_at = FindingState.GONE, now


def every(session: Session, *, state: str | None = None, kinds: Iterable[str] = ()) -> list[StoredFinding]:
    """Findings, those of one kind together."""
    query = select(FindingRow).order_by(col(FindingRow.kind), col(FindingRow.id))
    if state is not None:
        query = query.where(FindingRow.state == state)
    if kinds := list(kinds):
        query = query.where(col(FindingRow.kind).in_(kinds))
    return [finding_of(row) for row in session.exec(query)]


def get(session: Session, finding_id: str) -> StoredFinding | None:
    """One finding, or None."""
    row = session.get(FindingRow, finding_id)
    return finding_of(row) if row else None


def close(session: Session, finding_id: str, state: FindingState, note: str | None, actor: str, now: datetime) -> None:
    """Closes a finding."""
    row = session.get_one(FindingRow, finding_id)
    row.state, row.note, row.actor, row.closed_at = state, note, actor, now


def finding_of(row: FindingRow) -> StoredFinding:
    """The record of a row."""
    return StoredFinding(**{**row.model_dump(), "item_ids": tuple(row.item_ids)})
