"""Numbers of rows by what they say, for those who watch over the playbook."""

from datetime import datetime

from sqlmodel import Session, col, func, select

from app.models import FindingRow, ItemRow, VerificationRunRow
from app.vocabulary import FindingState, RunState

Tally = dict[tuple[str, ...], int]


def items(session: Session) -> Tally:
    """(kind, status) -> items."""
    query = select(ItemRow.kind, ItemRow.status, func.count()).group_by(col(ItemRow.kind), col(ItemRow.status))
    return {(kind, status): count for kind, status, count in session.exec(query)}


def votes(session: Session) -> Tally:
    """(signal,) -> sum of that counter over all items."""
    query = select(func.coalesce(func.sum(ItemRow.helpful), 0), func.coalesce(func.sum(ItemRow.harmful), 0))
    helpful, harmful = session.exec(query).one()
    return {("helpful",): int(helpful), ("harmful",): int(harmful)}


def runs(session: Session) -> Tally:
    """(state,) -> verification runs, for every state."""
    query = select(VerificationRunRow.state, func.count()).group_by(col(VerificationRunRow.state))
    found = dict(session.exec(query).all())
    return {(state.value,): found.get(state.value, 0) for state in RunState}


def oldest_queued(session: Session) -> datetime | None:
    """When the run was ordered that has waited longest; None where none waits."""
    query = select(VerificationRunRow.queued_at).where(VerificationRunRow.state == RunState.QUEUED)
    return session.exec(query.order_by(col(VerificationRunRow.queued_at)).limit(1)).first()


def verdicts(session: Session) -> Tally:
    """(verdict,) -> finished verification runs."""
    query = (
        select(VerificationRunRow.verdict, func.count())
        .where(col(VerificationRunRow.verdict).is_not(None))
        .group_by(col(VerificationRunRow.verdict))
    )
    return {(str(verdict),): count for verdict, count in session.exec(query)}


def open_findings(session: Session) -> int:
    """Findings that nobody decided."""
    return session.exec(select(func.count()).where(FindingRow.state == FindingState.OPEN)).one()
