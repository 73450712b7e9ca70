"""Derived records of when items apply: which are missing, keeping them, loading them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, bindparam, func, insert, or_
from sqlmodel import Session, col, delete, select

from app.models import DerivedRecordRow, ItemRow
from app.vocabulary import ItemKind, ItemStatus


@dataclass(frozen=True, slots=True)
class Underived:
    """An item whose record is missing, or was derived from something else."""

    item_id: str
    kind: ItemKind
    text: str
    content_hash: str
    family: str | None
    source_problem: str | None


def missing(session: Session, lexicon: str, limit: int) -> list[Underived]:
    """Up to `limit` items, retired ones aside, without a record of their present state and vocabulary."""
    up_to_date = and_(
        col(DerivedRecordRow.item_id) == ItemRow.id,
        col(DerivedRecordRow.content_hash) == ItemRow.content_hash,
        col(DerivedRecordRow.family) == func.coalesce(ItemRow.family, ""),
        col(DerivedRecordRow.source_problem) == func.coalesce(ItemRow.source_problem, ""),
        col(DerivedRecordRow.lexicon) == lexicon,
    )
    query = (
        select(ItemRow)
        .join(DerivedRecordRow, up_to_date, isouter=True)
        .where(ItemRow.status != ItemStatus.RETIRED, or_(col(DerivedRecordRow.item_id).is_(None)))
        .order_by(col(ItemRow.id))
        .limit(limit)
    )
    return [
        Underived(row.id, ItemKind(row.kind), row.text, row.content_hash, row.family, row.source_problem)
        for row in session.exec(query)
    ]


def put(session: Session, lexicon: str, records: Iterable[tuple[Underived, Mapping[str, Any]]]) -> None:
    """Keeps one record per item, in place of an older one."""
    rows = [
        {
            "item_id": item.item_id,
            "content_hash": item.content_hash,
            "family": item.family or "",
            "source_problem": item.source_problem or "",
            "lexicon": lexicon,
            "record": dict(record),
        }
        for item, record in records
    ]
    if not rows:
        return
    old = delete(DerivedRecordRow).where(col(DerivedRecordRow.item_id) == bindparam("old"))
    session.connection().execute(old, [{"old": row["item_id"]} for row in rows])
    session.execute(insert(DerivedRecordRow), rows)


def load(session: Session, *, changed_after: int) -> dict[str, Mapping[str, Any]]:
    """Records of items that changed after that corpus version, by item id."""
    query = (
        select(DerivedRecordRow.item_id, DerivedRecordRow.record)
        .join(ItemRow, col(DerivedRecordRow.item_id) == ItemRow.id)
        .where(col(ItemRow.changed_in) > changed_after)
    )
    return dict(session.exec(query).all())
