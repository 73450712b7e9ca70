"""Counts over whole tables, for people who want to see where things stand."""

from datetime import datetime

from sqlalchemy import Text, cast, func
from sqlmodel import Session, col, select

from app.models import CounterEventRow, FindingRow, ItemRow, VerificationRunRow
from app.records import StoredFinding
from app.store.findings import finding_of
from app.vocabulary import FindingState, ItemStatus


def items_by_kind_and_status(session: Session) -> dict[tuple[str, str], int]:
    """(kind, status) -> number of items."""
    query = select(ItemRow.kind, ItemRow.status, func.count()).group_by(ItemRow.kind, ItemRow.status)
    return {(kind, status): count for kind, status, count in session.exec(query)}


def pending(session: Session) -> int:
    """Number of items that wait for a curator."""
    return session.exec(select(func.count()).where(ItemRow.status == ItemStatus.PENDING)).one()


def open_findings(session: Session) -> dict[str, int]:
    """Kind -> number of open findings."""
    query = select(FindingRow.kind, func.count()).where(FindingRow.state == FindingState.OPEN)
    return dict(session.exec(query.group_by(FindingRow.kind)).all())


def findings_naming(session: Session, item_id: str) -> list[StoredFinding]:
    """Open findings that concern an item."""
    named = cast(col(FindingRow.item_ids), Text).contains(f'"{item_id}"', autoescape=True)
    query = select(FindingRow).where(FindingRow.state == FindingState.OPEN, named).order_by(col(FindingRow.kind))
    return [finding_of(row) for row in session.exec(query)]


def votes_since(session: Session, since: datetime) -> list[tuple[datetime, int, int]]:
    """(at, helpful, harmful) of every counter event from a moment on, oldest first; takings-back are negative."""
    query = select(CounterEventRow.at, CounterEventRow.helpful, CounterEventRow.harmful)
    rows = session.exec(query.where(col(CounterEventRow.at) >= since).order_by(col(CounterEventRow.at)))
    return [(at, helpful, harmful) for at, helpful, harmful in rows]


def runs_by_state(session: Session) -> dict[str, int]:
    """State -> number of verification runs."""
    query = select(VerificationRunRow.state, func.count()).group_by(VerificationRunRow.state)
    return dict(session.exec(query).all())


def sections(session: Session) -> list[str]:
    """Every section that an item is in."""
    return sorted(session.exec(select(ItemRow.section).distinct()).all())


def families(session: Session) -> list[str]:
    """Every family that an item is of."""
    found = session.exec(select(ItemRow.family).where(col(ItemRow.family).is_not(None)).distinct()).all()
    return sorted(family for family in found if family)


def hardware_of_runs(session: Session) -> list[str]:
    """Every kind of hardware that a run was ordered for."""
    return sorted(session.exec(select(VerificationRunRow.hardware).distinct()).all())
