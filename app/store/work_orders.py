"""The guard of a work order: each step is one UPDATE that says what must still be true, and whether it was.

A message in a queue may come twice, late, or never. Only who changes the row acts on it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlmodel import Session, col, select, update

from app.models import VerificationRunRow
from app.records import Run
from app.store import clock
from app.store.runs import run_of
from app.vocabulary import RunState, Verdict

_ROW = VerificationRunRow


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run found."""

    verdict: str
    speedup: Decimal | None
    figures: Mapping[str, Any]
    fingerprint: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep found: (run id, hardware) of orders that wait again, and ids of those that were given up."""

    requeued: list[tuple[str, str]]
    given_up: list[str]


def add(session: Session, orders: Iterable[Run]) -> list[Run]:
    """Writes new orders, queued at this moment; the orders as they stand."""
    now = clock.now(session)
    # A step of a microsecond each keeps the order in which they were given.
    placed = [replace(order, queued_at=now + timedelta(microseconds=place)) for place, order in enumerate(orders)]
    for order in placed:
        session.add(VerificationRunRow(**{name: getattr(order, name) for name in Run.__slots__}))
    session.flush()
    return placed


def claim(session: Session, run_id: str, worker: str) -> Run | None:
    """Takes a queued order for this worker, as its next attempt; None where it is not queued (any more)."""
    now = clock.now(session)
    claimed = (
        update(_ROW)
        .where(col(_ROW.id) == run_id, col(_ROW.state) == RunState.QUEUED)
        .values(
            state=RunState.RUNNING.value,
            attempts=col(_ROW.attempts) + 1,
            worker=worker,
            phase="claimed",
            started_at=now,
            heartbeat_at=now,
        )
    )
    if _changed(session, claimed) != 1:
        return None
    return run_of(session.get_one(_ROW, run_id, populate_existing=True))


def beat(session: Session, run_id: str, attempt: int, phase: str) -> bool:
    """Says that the attempt lives; False where the order is no longer this attempt's, which must then stop."""
    changed = _held(run_id, attempt).values(heartbeat_at=clock.now(session), phase=phase[:40])
    return _changed(session, changed) == 1


def finish(session: Session, run_id: str, attempt: int, outcome: Outcome) -> bool:
    """Keeps a verdict; False, and nothing changed, where it comes from an attempt that was given up."""
    now = clock.now(session)
    changed = _held(run_id, attempt).values(
        state=RunState.FINISHED.value,
        verdict=outcome.verdict,
        speedup=outcome.speedup,
        figures=dict(outcome.figures),
        fingerprint=dict(outcome.fingerprint),
        phase=None,
        heartbeat_at=now,
        finished_at=now,
    )
    return _changed(session, changed) == 1


def release(session: Session, run_id: str, attempt: int) -> bool:
    """Puts an order back that its worker will not finish; this is nobody's fault and counts as none."""
    changed = _held(run_id, attempt).values(state=RunState.QUEUED.value, worker=None, phase=None)
    return _changed(session, changed) == 1


def sweep(session: Session, silent_before: datetime, most_lost: int) -> Swept:
    """Queues again what silent workers left, and gives up what was lost `most_lost` times, which blames no kernel."""
    silent = (col(_ROW.state) == RunState.RUNNING, col(_ROW.heartbeat_at) < silent_before)
    lost = col(_ROW.lost) + 1
    now = clock.now(session)
    detail = f"no worker finished this run: {most_lost} of them fell silent"
    given_up = session.exec(
        update(_ROW)
        .where(*silent, lost >= most_lost)
        .values(
            state=RunState.FINISHED.value,
            verdict=Verdict.INFRA_ERROR.value,
            lost=lost,
            figures=unmeasured(detail),
            phase=None,
            finished_at=now,
        )
        .returning(col(_ROW.id))
    ).all()
    requeued = session.exec(
        update(_ROW)
        .where(*silent)
        .values(state=RunState.QUEUED.value, worker=None, phase=None, lost=lost)
        .returning(col(_ROW.id), col(_ROW.hardware))
    ).all()
    return Swept([(str(run_id), str(hardware)) for run_id, hardware in requeued], [str(row[0]) for row in given_up])


def cancel_queued(session: Session, night: str, detail: str) -> int:
    """Ends the orders of a night that nobody began, as cancelled; their number."""
    now = clock.now(session)
    changed = (
        update(_ROW)
        .where(col(_ROW.night) == night, col(_ROW.state) == RunState.QUEUED)
        .values(
            state=RunState.FINISHED.value,
            verdict=Verdict.CANCELLED.value,
            figures=unmeasured(detail),
            finished_at=now,
            phase=None,
        )
    )
    return _changed(session, changed)


def queued(session: Session, hardware: str | None = None) -> list[tuple[str, str]]:
    """(run id, hardware) of every order that waits, on one kind of hardware or on any, oldest first."""
    query = select(_ROW.id, _ROW.hardware).where(_ROW.state == RunState.QUEUED)
    if hardware is not None:
        query = query.where(_ROW.hardware == hardware)
    return list(session.exec(query.order_by(col(_ROW.queued_at), col(_ROW.id))).all())


def waiting_for(session: Session, item_id: str, hardware: str) -> Run | None:
    """The order for a kernel on some hardware that is queued already, outside of any night, or None."""
    query = select(_ROW).where(
        _ROW.item_id == item_id,
        _ROW.hardware == hardware,
        _ROW.state == RunState.QUEUED,
        col(_ROW.night).is_(None),
    )
    row = session.exec(query).first()
    return run_of(row) if row else None


def unmeasured(detail: str) -> dict[str, Any]:
    """What a row keeps of a run that nobody judged."""
    return {"figures": None, "flags": [], "detail": detail, "evidence": {}, "phases": {}, "seconds": 0.0}


def _changed(session: Session, statement: Any) -> int:
    return int(session.exec(statement).rowcount)


def _held(run_id: str, attempt: int) -> Any:
    """An update of a running order, while it is this attempt's."""
    return update(_ROW).where(
        col(_ROW.id) == run_id, col(_ROW.state) == RunState.RUNNING, col(_ROW.attempts) == attempt
    )
