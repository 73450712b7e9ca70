"""Verification runs as they are listed and read."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_
from sqlmodel import Session, col, select

from app.models import KernelRow, VerificationRunRow
from app.records import Run
from app.vocabulary import RunState, Verdict

_ROW = VerificationRunRow

_SAYS_NOTHING = [verdict.value for verdict in Verdict if verdict.is_infrastructure]
"""Verdicts that tell of the evaluator or its host, not of the kernel: its last verdict stands."""


@dataclass(frozen=True, slots=True)
class RunPage:
    """Part of a list of runs, and how many there are in all."""

    runs: list[Run]
    total: int


def get(session: Session, run_id: str) -> Run | None:
    """One run, or None."""
    row = session.get(_ROW, run_id)
    return run_of(row) if row else None


def page(
    session: Session,
    *,
    after: str | None,
    limit: int,
    item_id: str | None = None,
    hardware: str | None = None,
    night: str | None = None,
    states: Iterable[RunState] = (),
    verdicts: Iterable[Verdict] = (),
    controls: bool | None = None,
) -> RunPage | None:
    """Up to `limit` runs, the newest order first, from the one after the run `after`; None where there is no such."""
    tests: list[ColumnElement[bool]] = []
    for column, value in ((_ROW.item_id, item_id), (_ROW.hardware, hardware), (_ROW.night, night)):
        if value is not None:
            tests.append(col(column) == value)
    if states := list(states):
        tests.append(col(_ROW.state).in_(states))
    if verdicts := list(verdicts):
        tests.append(col(_ROW.verdict).in_(verdicts))
    if controls is not None:
        tests.append(col(_ROW.control).is_not(None) if controls else col(_ROW.control).is_(None))
    total = session.exec(select(func.count()).select_from(_ROW).where(*tests)).one()
    query = select(_ROW).where(*tests).order_by(col(_ROW.queued_at).desc(), col(_ROW.id).desc())
    last = session.get(_ROW, after) if after is not None else None
    if after is not None and last is None:
        return None
    if last is not None:
        earlier = col(_ROW.queued_at) < last.queued_at
        query = query.where(or_(earlier, and_(col(_ROW.queued_at) == last.queued_at, col(_ROW.id) < last.id)))
    return RunPage([run_of(row) for row in session.exec(query.limit(limit))], total)


def of_night(session: Session, night: str) -> list[Run]:
    """Every run of a night, in the order in which they were ordered."""
    query = select(_ROW).where(_ROW.night == night).order_by(col(_ROW.queued_at), col(_ROW.id))
    return [run_of(row) for row in session.exec(query)]


def telling(session: Session, *, item_ids: Iterable[str] | None = None, hardware: str | None = None) -> list[Run]:
    """Finished runs that say something of a kernel as it is now, oldest first.

    Left out are controls, faults of the evaluator or its host, and runs of code that the kernel no longer has.
    """
    query = (
        select(_ROW)
        .join(KernelRow, col(KernelRow.item_id) == col(_ROW.item_id), isouter=True)
        .where(
            _ROW.state == RunState.FINISHED,
            col(_ROW.item_id).is_not(None),
            col(_ROW.verdict).not_in(_SAYS_NOTHING),
            or_(
                col(_ROW.content_hash).is_(None),
                col(KernelRow.content_hash).is_(None),
                col(_ROW.content_hash) == col(KernelRow.content_hash),
            ),
        )
        .order_by(col(_ROW.finished_at), col(_ROW.id))
    )
    if item_ids is not None:
        query = query.where(col(_ROW.item_id).in_(list(item_ids)))
    if hardware is not None:
        query = query.where(_ROW.hardware == hardware)
    return [run_of(row) for row in session.exec(query)]


def counts(session: Session) -> dict[tuple[str, str], int]:
    """(hardware, state) -> number of runs that are not finished."""
    query = (
        select(_ROW.hardware, _ROW.state, func.count())
        .where(_ROW.state != RunState.FINISHED)
        .group_by(_ROW.hardware, _ROW.state)
    )
    return {(hardware, state): number for hardware, state, number in session.exec(query)}


def run_of(row: VerificationRunRow) -> Run:
    """The record of a row."""
    values: dict[str, Any] = {name: getattr(row, name) for name in Run.__slots__}
    return Run(**values)


def judged_on(session: Session, hardware: str) -> set[str]:
    """Kernels that were ever judged on some hardware, whatever their code was then."""
    query = select(_ROW.item_id).where(
        _ROW.hardware == hardware,
        _ROW.state == RunState.FINISHED,
        col(_ROW.item_id).is_not(None),
        col(_ROW.verdict).not_in(_SAYS_NOTHING),
    )
    return {item_id for item_id in session.exec(query) if item_id is not None}
