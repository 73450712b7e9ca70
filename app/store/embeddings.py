"""Vectors of items: which are missing, keeping them, loading them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy import and_, bindparam, insert, or_
from sqlmodel import Session, col, delete, select

from app.models import EmbeddingRow, ItemRow
from app.vocabulary import ItemStatus

Vectors = npt.NDArray[np.float32]

HEAD = "head"
"""The part of an item that is embedded: its opening, which says when it applies."""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """An item whose vector is missing or of an older text."""

    item_id: str
    text: str
    text_hash: str


def missing(session: Session, model_id: str, limit: int) -> list[Unembedded]:
    """Up to `limit` items, retired ones aside, that have no vector of their present text."""
    same_place = and_(
        col(EmbeddingRow.item_id) == ItemRow.id, col(EmbeddingRow.part) == HEAD, col(EmbeddingRow.model_id) == model_id
    )
    query = (
        select(ItemRow.id, ItemRow.text, ItemRow.content_hash)
        .join(EmbeddingRow, same_place, isouter=True)
        .where(
            ItemRow.status != ItemStatus.RETIRED,
            or_(col(EmbeddingRow.item_id).is_(None), col(EmbeddingRow.text_hash) != ItemRow.content_hash),
        )
        .order_by(col(ItemRow.id))
        .limit(limit)
    )
    return [Unembedded(*row) for row in session.exec(query)]


def put(session: Session, model_id: str, embedded: Iterable[tuple[Unembedded, Vectors]]) -> None:
    """Keeps one vector per item, in place of the one of an older text."""
    rows = [
        {
            "item_id": item.item_id,
            "part": HEAD,
            "model_id": model_id,
            "dimension": len(vector),
            "text_hash": item.text_hash,
            "vector": np.ascontiguousarray(vector, dtype="<f4").tobytes(),
        }
        for item, vector in embedded
    ]
    if not rows:
        return
    table = EmbeddingRow
    old = (col(table.item_id) == bindparam("old"), col(table.part) == HEAD, col(table.model_id) == model_id)
    session.connection().execute(delete(table).where(*old), [{"old": row["item_id"]} for row in rows])
    session.execute(insert(table), rows)


def load(session: Session, model_id: str, *, changed_after: int) -> tuple[Sequence[str], Vectors]:
    """Ids and vectors (n, dimension) of items that changed after that corpus version."""
    query = (
        select(EmbeddingRow.item_id, EmbeddingRow.vector)
        .join(ItemRow, col(EmbeddingRow.item_id) == ItemRow.id)
        .where(
            EmbeddingRow.model_id == model_id,
            EmbeddingRow.part == HEAD,
            col(EmbeddingRow.text_hash) == ItemRow.content_hash,
            col(ItemRow.changed_in) > changed_after,
        )
    )
    found = session.exec(query).all()
    if not found:
        return [], np.empty((0, 0), dtype=np.float32)
    return [row[0] for row in found], np.stack([np.frombuffer(row[1], dtype="<f4") for row in found])


def clear(session: Session) -> None:
    """Deletes every vector; they are derived and can be made again."""
    session.exec(delete(EmbeddingRow))
