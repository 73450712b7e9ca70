"""Nights: one row a date, moved on by whoever changes its state first."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import func, insert
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, select, update

from app.models import NightRow
from app.records import Night
from app.store import clock
from app.vocabulary import NightState

_ROW = NightRow


def begin(session: Session, date: str, opened_by: str, hardware: Sequence[str], plan: Mapping[str, Any]) -> bool:
    """Opens the night of a date; False where somebody did so before."""
    row = {
        "date": date,
        "state": NightState.CONTROLS.value,
        "hardware": list(hardware),
        "plan": dict(plan),
        "opened_by": opened_by,
        "opened_at": clock.now(session),
    }
    try:
        with session.begin_nested():
            session.connection().execute(insert(_ROW).values(**row))
    except IntegrityError:
        return False
    return True


def move_on(session: Session, date: str, old: NightState, new: NightState) -> bool:
    """Takes a night to its next state; False where it is no longer in the old one."""
    changed = update(_ROW).where(col(_ROW.date) == date, col(_ROW.state) == old).values(state=new.value)
    return int(session.exec(changed).rowcount) == 1


def close(session: Session, date: str, summary: Mapping[str, Any]) -> datetime:
    """Keeps the summary of a night whose last state was just reached; the moment of closing."""
    now = clock.now(session)
    session.exec(update(_ROW).where(col(_ROW.date) == date).values(summary=dict(summary), closed_at=now))
    return now


def note_told(session: Session, date: str) -> None:
    """Notes that the webhook took the news of a night."""
    session.exec(update(_ROW).where(col(_ROW.date) == date).values(notified_at=clock.now(session)))


def get(session: Session, date: str) -> Night | None:
    """The night of a date, or None."""
    row = session.get(_ROW, date, populate_existing=True)
    return _night(row) if row else None


def page(session: Session, *, before: str | None, limit: int) -> tuple[list[Night], int]:
    """Up to `limit` nights, newest first, from the one before the date `before`; and how many there are."""
    total = session.exec(select(func.count()).select_from(_ROW)).one()
    query = select(_ROW).order_by(col(_ROW.date).desc()).limit(limit)
    if before is not None:
        query = query.where(_ROW.date < before)
    return [_night(row) for row in session.exec(query)], total


def _night(row: NightRow) -> Night:
    values: dict[str, Any] = {name: getattr(row, name) for name in Night.__slots__}
    return Night(**{**values, "hardware": tuple(row.hardware)})
