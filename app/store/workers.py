"""Which workers there are, and which of them live."""

from datetime import datetime

from sqlmodel import Session, col, select, update

from app.models import WorkerRow
from app.records import Worker
from app.store import clock


def arrive(session: Session, name: str, hardware: str, evaluator: str) -> None:
    """A worker begins (again)."""
    now = clock.now(session)
    session.merge(
        WorkerRow(name=name, hardware=hardware, evaluator=evaluator, started_at=now, heartbeat_at=now, stopped_at=None)
    )


def beat(session: Session, name: str) -> None:
    """A worker lives."""
    session.exec(update(WorkerRow).where(col(WorkerRow.name) == name).values(heartbeat_at=clock.now(session)))


def leave(session: Session, name: str) -> None:
    """A worker stopped in good order."""
    session.exec(update(WorkerRow).where(col(WorkerRow.name) == name).values(stopped_at=clock.now(session)))


def living(session: Session, since: datetime) -> list[Worker]:
    """Workers that have not stopped and said something since that moment, by name."""
    query = select(WorkerRow).where(col(WorkerRow.stopped_at).is_(None), col(WorkerRow.heartbeat_at) >= since)
    return [_worker(row) for row in session.exec(query.order_by(col(WorkerRow.name)))]


def _worker(row: WorkerRow) -> Worker:
    return Worker(**{name: getattr(row, name) for name in Worker.__slots__})
