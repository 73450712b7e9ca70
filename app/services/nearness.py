"""Looks the nearest items up in the database's own vector index, for ranking to read as it reads FAISS."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np

from app.errors import PgvectorMissing
from app.records import Item
from app.retrieval.embedder import Embedder, Vectors
from app.retrieval.vectors import DENSE_CANDIDATES, Mask
from app.store import pgvector
from app.store.database import Database
from app.vocabulary import VectorIndexName

log = logging.getLogger(__name__)


class DatabaseVectors:
    """pgvector behind the question that ranking asks: how near is each row."""

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._model_id = embedder.model_id

    def follow(self, since: int) -> None:
        """Brings the searchable copy up to date with what changed after a corpus version."""
        with self._database.write() as session:
            pgvector.follow(session, self._model_id, changed_after=since)

    def similarities(
        self, query: Vectors, allowed: Mask | None, items: Sequence[Item], live: Mask, places: Mapping[str, int]
    ) -> Vectors:
        """Cosines of the nearest allowed rows at their places in an array of shape (rows,), 0 elsewhere."""
        found = np.zeros(len(items), dtype=np.float32)
        usable = live if allowed is None else allowed
        wanted = min(DENSE_CANDIDATES, int(usable.sum()))
        taken = 0
        for near in self._near(query, DENSE_CANDIDATES, None):
            taken += self._take(near, found, usable, items, places)
        if taken < wanted:
            # The filter left few of the nearest: ask for the allowed ones alone, each of which is then compared.
            found[:] = 0.0
            ids = [items[row].id for row in np.flatnonzero(usable).tolist()]
            for near in self._near(query, DENSE_CANDIDATES, ids):
                self._take(near, found, usable, items, places)
        return found

    def _near(self, query: Vectors, count: int, item_ids: Sequence[str] | None) -> list[pgvector.Near]:
        with self._database.read() as session:
            return pgvector.nearest(session, query, count, item_ids)

    def _take(
        self, near: pgvector.Near, found: Vectors, usable: Mask, items: Sequence[Item], places: Mapping[str, int]
    ) -> int:
        row = places.get(near.item_id)
        if row is None or not usable[row] or items[row].content_hash != near.text_hash:
            return 0
        found[row] = near.cosine
        return 1


def vectors_in_database(database: Database, embedder: Embedder) -> DatabaseVectors | None:
    """The database's vector index where the settings and the database allow it, or None for FAISS.

    PgvectorMissing where it was asked for by name and cannot be had.
    """
    asked = database.settings.vector_index
    if asked is VectorIndexName.FAISS or (asked is VectorIndexName.AUTO and database.is_sqlite):
        return None
    against = pgvector.prepare(database, embedder.model_id, embedder.dimension)
    if against is None:
        return DatabaseVectors(database, embedder)
    if asked is VectorIndexName.PGVECTOR:
        raise PgvectorMissing(
            f"PLAYBOOK_VECTOR_INDEX=pgvector cannot be had: {against}. Have an administrator run CREATE EXTENSION "
            "vector in the database, or set it to auto or faiss."
        )
    log.warning("pgvector cannot be had, FAISS is used: %s", against)
    return None
