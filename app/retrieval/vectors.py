"""The vector index, by FAISS: rows in, rows and cosines out."""

import faiss
import numpy as np
import numpy.typing as npt

from app.retrieval.embedder import Vectors

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# Queries run in many threads at once; one FAISS thread each keeps them from fighting over the cores.
faiss.omp_set_num_threads(1)


DENSE_CANDIDATES = 1024
"""Rows whose cosine takes part in a ranking; others count as having none."""


class FaissIndex:
    """A flat inner-product index over unit vectors: exact, immutable once built, safe for concurrent readers.

    A row whose vector is missing is a row of zeros: it has cosine 0 to everything. Rows that were added later stand
    beside the index that they share with the one they were added to.
    """

    def __init__(self, vectors: Vectors, dimension: int) -> None:
        self._index = faiss.IndexFlatIP(dimension)
        self._newer: Vectors = np.empty((0, dimension), dtype=np.float32)
        if len(vectors):
            self._index.add(np.ascontiguousarray(vectors, dtype=np.float32))

    def __len__(self) -> int:
        return int(self._index.ntotal) + len(self._newer)

    def with_rows(self, vectors: Vectors) -> "FaissIndex":
        """The index with rows added at its end."""
        grown = FaissIndex.__new__(FaissIndex)
        grown._index, grown._newer = self._index, np.concatenate([self._newer, vectors], dtype=np.float32)
        return grown

    def nearest(self, query: Vectors, count: int, allowed: Mask | None = None) -> tuple[Rows, Vectors]:
        """Up to `count` allowed rows with their cosines, best first. The mask acts before the cut."""
        old = int(self._index.ntotal)
        rows, cosines = self._nearest_old(query, count, None if allowed is None else allowed[:old])
        if not len(self._newer):
            return rows, cosines
        newer = np.arange(old, len(self)) if allowed is None else old + np.flatnonzero(allowed[old:])
        rows = np.concatenate([rows, newer])
        cosines = np.concatenate([cosines, self._newer[newer - old] @ query]).astype(np.float32)
        best = np.argsort(-cosines, kind="stable")[: max(count, 0)]
        return rows[best], cosines[best]

    def _nearest_old(self, query: Vectors, count: int, allowed: Mask | None) -> tuple[Rows, Vectors]:
        wanted = min(count, int(self._index.ntotal) if allowed is None else int(allowed.sum()))
        if wanted <= 0:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        parameters = None
        if allowed is not None and not allowed.all():
            bits = np.packbits(allowed, bitorder="little")
            parameters = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bits))  # type: ignore[call-arg, arg-type]
        cosines, rows = self._index.search(query.reshape(1, -1), wanted, params=parameters)
        found = rows[0] >= 0
        return rows[0][found], cosines[0][found]

    def similarities(self, query: Vectors, allowed: Mask | None) -> Vectors:
        """Cosines of the nearest allowed rows at their places in an array of shape (rows,), 0 elsewhere."""
        rows, cosines = self.nearest(query, DENSE_CANDIDATES, allowed)
        similarities = np.zeros(len(self), dtype=np.float32)
        similarities[rows] = cosines
        return similarities
