"""Feedback and the contexts it speaks of."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlmodel import Session, col, select, update

from app.models import ContextRecordRow, FeedbackRow
from app.records import ContextRecord


@dataclass(frozen=True, slots=True)
class Given:
    """Feedback that was accepted before under a key."""

    body_hash: str
    answer: Mapping[str, Any]


def claim(session: Session, feedback_id: str, key: str | None, body_hash: str, actor: str, at: datetime) -> bool:
    """Takes a key for a new piece of feedback; False where the key is taken.

    A second writer with the same key waits here until the first has committed, and then finds it taken.
    """
    insert_or_not = sqlite_insert if session.get_bind().dialect.name == "sqlite" else postgresql_insert
    row: dict[str, Any] = {
        "id": feedback_id,
        "idempotency_key": key,
        "body_hash": body_hash,
        "actor": actor,
        "at": at,
        "answer": {},
    }
    statement = insert_or_not(FeedbackRow).values(row).on_conflict_do_nothing(index_elements=["idempotency_key"])
    return session.execute(statement.returning(col(FeedbackRow.id))).first() is not None


def given_under(session: Session, key: str) -> Given | None:
    """The feedback that was accepted under a key."""
    row = session.exec(select(FeedbackRow).where(FeedbackRow.idempotency_key == key)).first()
    return Given(row.body_hash, row.answer) if row else None


def complete(session: Session, feedback_id: str, values: Mapping[str, Any]) -> None:
    """Writes what a claimed piece of feedback says, and the answer to it."""
    session.exec(update(FeedbackRow).where(col(FeedbackRow.id) == feedback_id).values(**values))


def put_contexts(session: Session, records: Iterable[ContextRecord]) -> None:
    """Keeps what was shown, in one statement."""
    rows = [
        {
            **{name: getattr(record, name) for name in ContextRecord.__slots__},
            "task": dict(record.task),
            "item_ids": list(record.item_ids),
            "left_out": dict(record.left_out),
        }
        for record in records
    ]
    if rows:
        session.execute(insert(ContextRecordRow), rows)


def context(session: Session, context_id: str) -> ContextRecord | None:
    """What was shown under an id."""
    row = session.get(ContextRecordRow, context_id)
    if row is None:
        return None
    values = row.model_dump()
    return ContextRecord(**{**values, "item_ids": tuple(row.item_ids)})
