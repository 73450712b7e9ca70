"""Ranks compiled items for a task: filters first, then candidates by an upper bound, then the exact score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.memory.ranking import scoring
from app.memory.ranking.compiled import CompiledItems
from app.memory.ranking.query import query_vectors
from app.memory.task.profile import TaskProfile

DEFAULT_THRESHOLD = 0.12
FIRST_CANDIDATES = 1024


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked item: its place in the compiled arrays, id, score in [0, 1] and the factors whose product the score is."""

    index: int
    id: str
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Hits by descending score, ties by id; how many items passed the filter, and how many of those fell to the threshold."""

    hits: tuple[Hit, ...]
    total_candidates: int
    below_threshold: int


def rank(
    profile: TaskProfile,
    items: CompiledItems,
    *,
    top_k: int = 10,
    threshold: float = DEFAULT_THRESHOLD,
    allowed: NDArray[np.bool_] | None = None,
    lexical: NDArray[np.float64] | None = None,
    dense: NDArray[np.float64] | None = None,
) -> Ranking:
    """Return the best items for a task.

    Args:
        profile: what the task is (`read_task`).
        items: N compiled items.
        top_k: at most so many hits.
        threshold: hits score at least this; 0 keeps every item.
        allowed: (N,) mask of the items that may appear; it acts before the cut.
        lexical: (N,) word similarity in [0, 1], e.g. BM25 over its maximum; None where there is none.
        dense: (N,) cosine similarity; None where there is none.

    Raises:
        ValueError: top_k is negative, or an array has not N entries.
    """
    _check(items, top_k, allowed, lexical, dense)
    query = query_vectors(profile)
    bound = scoring.opening(items, query) * scoring.understanding(query.confidence)
    open_rows = np.flatnonzero(allowed) if allowed is not None else np.arange(len(items))
    rows, scores, parts = _best(items, query, bound, open_rows, top_k, lexical, dense)
    kept = [i for i in range(len(rows)) if scores[i] >= threshold]
    kept.sort(key=lambda i: (-scores[i], items.ids[rows[i]]))
    hits = tuple(
        Hit(int(rows[i]), items.ids[rows[i]], scores[i], {name: float(column[i]) for name, column in parts.items()})
        for i in kept[:top_k]
    )
    return Ranking(hits, len(open_rows), len(open_rows) - len(kept) if threshold > 0 else 0)


def _check(items: CompiledItems, top_k: int, *arrays: NDArray[np.bool_] | NDArray[np.float64] | None) -> None:
    if top_k < 0:
        raise ValueError("top_k must not be negative")
    for array in arrays:
        if array is not None and array.shape != (len(items),):
            raise ValueError(f"expected an array of {len(items)} entries, got shape {array.shape}")


def _best(items, query, bound, open_rows, top_k, lexical, dense):  # type: ignore[no-untyped-def]
    """Score as many candidates as needed so that no item left out could have reached the top."""
    size = max(FIRST_CANDIDATES, 4 * top_k)
    while True:
        if size >= len(open_rows):
            rows, left = open_rows, 0.0
        else:
            order = np.argpartition(-bound[open_rows], size)
            rows, left = open_rows[order[:size]], float(bound[open_rows[order[size:]]].max())
        parts = scoring.factors(items, query, rows, lexical, dense)
        scores = product(parts)
        if left == 0.0 or len(rows) == len(open_rows) or (top_k and np.partition(scores, -top_k)[-top_k] >= left):
            return rows, scores.tolist(), parts
        size *= 4


def product(parts: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Multiply the factors in their order; `explain` multiplies the same numbers in the same order."""
    result: NDArray[np.float64] | None = None
    for column in parts.values():
        result = column.copy() if result is None else result * column
    return result if result is not None else np.zeros(0)
