"""Ranks compiled items for a task: the filter first, then set by set of conditions, best upper bound first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.memory.ranking import scoring
from app.memory.ranking.compiled import CompiledItems
from app.memory.ranking.query import QueryVectors, query_vectors
from app.memory.task.profile import TaskProfile

DEFAULT_THRESHOLD = 0.15
FIRST_BATCH = 512

Scores = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked item: its place in the compiled arrays, id, score in [0, 1] and the factors whose product the score
    is.
    """

    index: int
    id: str
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Hits by descending score, ties by id.

    `total_candidates` passed the filter; `below_threshold` of them are known to score less than the threshold (items
    that could not reach the top are not scored, so there may be more).
    """

    hits: tuple[Hit, ...]
    total_candidates: int
    below_threshold: int


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question put to compiled items: everything that scoring some of them needs."""

    items: CompiledItems
    query: QueryVectors
    shared: scoring.SharedFactors
    lexical: Scores | None
    dense: Scores | None

    def parts(self, rows: Rows) -> dict[str, Scores]:
        sets = self.items.condition[rows]
        own = scoring.item_factors(self.items, self.query, self.shared.steady, rows, self.lexical, self.dense)
        return {name: column[sets] for name, column in self.shared.factors.items()} | own


def rank(
    profile: TaskProfile,
    items: CompiledItems,
    *,
    top_k: int = 10,
    threshold: float = DEFAULT_THRESHOLD,
    allowed: NDArray[np.bool_] | None = None,
    lexical: Scores | None = None,
    dense: Scores | None = None,
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
    shared = scoring.shared_factors(items.conditions, query)
    bounds = product(shared.factors)
    asked = _Asked(items, query, shared, lexical, dense)
    best: list[tuple[float, str, int]] = []
    below = 0
    for rows, next_bound in _batches(items, bounds, allowed):
        scores = product(asked.parts(rows))
        below += int((scores < threshold).sum())
        best += [(float(scores[i]), items.ids[rows[i]], int(rows[i])) for i in _leading(scores, top_k, threshold)]
        best = sorted(best, key=lambda entry: (-entry[0], entry[1]))[:top_k]
        if next_bound < threshold or not top_k or (len(best) == top_k and next_bound < best[-1][0]):
            break
    total = len(items) if allowed is None else int(np.count_nonzero(allowed))
    rows = np.array([row for _, _, row in best], dtype=np.intp)
    return Ranking(_explained(asked, rows), total, min(below, total))


def _check(items: CompiledItems, top_k: int, *arrays: NDArray[np.bool_] | Scores | None) -> None:
    if top_k < 0:
        raise ValueError("top_k must not be negative")
    for array in arrays:
        if array is not None and array.shape != (len(items),):
            raise ValueError(f"expected an array of {len(items)} entries, got shape {array.shape}")


def _batches(items: CompiledItems, bounds: Scores, allowed: NDArray[np.bool_] | None) -> Iterator[tuple[Rows, float]]:
    """Yield allowed items of the sets with the highest bounds, in growing batches, with the bound of all that
    follow.
    """
    order = np.argsort(-bounds, kind="stable")
    pending: list[Rows] = []
    held, size = 0, FIRST_BATCH
    for place, number in enumerate(order):
        rows = items.by_condition[items.starts[number] : items.starts[number + 1]]
        if allowed is not None:
            rows = rows[allowed[rows]]
        pending.append(rows)
        held += len(rows)
        last = place + 1 == len(order)
        if last or held >= size:
            yield np.concatenate(pending), -1.0 if last else float(bounds[order[place + 1]])
            pending, held, size = [], 0, size * 2


def _leading(scores: Scores, top_k: int, threshold: float) -> Rows:
    """Return the places of the scores that may be among the top, all ties included."""
    places: Rows = np.flatnonzero(scores >= threshold)
    if len(places) <= top_k or not top_k:
        return places[:0] if not top_k else places
    limit = np.partition(scores[places], len(places) - top_k)[len(places) - top_k]
    leading: Rows = places[scores[places] >= limit]
    return leading


def _explained(asked: _Asked, rows: Rows) -> tuple[Hit, ...]:
    """Return hits whose score is the product of their parts, multiplied in their order."""
    parts = asked.parts(rows)
    scores = product(parts).tolist()
    columns = [column.tolist() for column in parts.values()]
    return tuple(
        Hit(row, asked.items.ids[row], scores[i], dict(zip(parts, (column[i] for column in columns), strict=True)))
        for i, row in enumerate(rows.tolist())
    )


def product(parts: Mapping[str, Scores]) -> Scores:
    """Multiply factors in their order."""
    columns = iter(parts.values())
    result = next(columns).copy()
    for column in columns:
        result *= column
    return result
