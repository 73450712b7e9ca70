"""Ids that were merged away."""

from collections.abc import Iterable, Mapping

from sqlmodel import Session, col, delete, select

from app.models import RedirectRow

LONGEST_CHAIN = 100
"""Merges of merges that a redirect follows; no sane history comes near."""


def add(session: Session, from_id: str, to_id: str, batch: str | None) -> None:
    """Leads an old id to the item that lives on."""
    session.merge(RedirectRow(from_id=from_id, to_id=to_id, batch=batch))
    session.flush()


def resolved(session: Session, item_ids: Iterable[str]) -> Mapping[str, str]:
    """Old id -> the id it leads to in the end, for those among the given ids that were merged away."""
    found: dict[str, str] = {}
    for item_id in item_ids:
        current, steps = session.get(RedirectRow, item_id), 0
        while current is not None and steps < LONGEST_CHAIN:
            found[item_id] = current.to_id
            current, steps = session.get(RedirectRow, current.to_id), steps + 1
    return found


def every(session: Session) -> Mapping[str, str]:
    """All redirects."""
    return {row.from_id: row.to_id for row in session.exec(select(RedirectRow).order_by(col(RedirectRow.from_id)))}


def remove(session: Session, from_ids: Iterable[str]) -> None:
    """Takes redirects back."""
    session.exec(delete(RedirectRow).where(col(RedirectRow.from_id).in_(list(from_ids))))


def of_batch(session: Session, batch: str) -> list[str]:
    """Ids that a batch merged away."""
    return list(session.exec(select(RedirectRow.from_id).where(RedirectRow.batch == batch)).all())
