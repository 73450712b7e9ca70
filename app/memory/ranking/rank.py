"""Ranks compiled items for a task: the filter first, then set by set of conditions, best upper bound first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from app.memory.ranking import scoring
from app.memory.ranking.compiled import CompiledItems
from app.memory.ranking.query import QueryVectors, query_vectors
from app.memory.task.profile import TaskProfile

DEFAULT_THRESHOLD = 0.15
FIRST_BATCH = 512
FEW = 2048
"""So few candidates are scored at once; bounds would cost more than they spare."""

Scores = NDArray[np.float64]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked item: its place in the compiled arrays, id, and score in [0, 1]."""

    index: int
    id: str
    score: float
    _place: int = field(repr=False)
    _factors: Mapping[str, Scores] = field(repr=False, compare=False)
    """Columns over all hits of one ranking; a row of them is read only when somebody asks for an explanation."""

    @property
    def parts(self) -> dict[str, float]:
        """The factors whose product the score is, in their order."""
        return {name: float(column[self._place]) for name, column in self._factors.items()}


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
    """One question put to compiled items: everything that scoring some of them needs.

    `bounds` are the products of the shared factors, per set of conditions.
    """

    items: CompiledItems
    query: QueryVectors
    shared: scoring.SharedFactors
    bounds: Scores
    lexical: Scores | None
    dense: Scores | None

    def scores(self, rows: Rows) -> Scores:
        """The scores of some items, to the bit those that `factors` multiply to."""
        found: Scores = self.bounds.take(self.items.condition.take(rows))
        for column in self._own(rows).values():
            found *= column
        return found

    def factors(self, rows: Rows) -> dict[str, Scores]:
        """Every factor of some items, in the order in which they are multiplied."""
        sets = self.items.condition.take(rows)
        return {name: column.take(sets) for name, column in self.shared.factors.items()} | self._own(rows)

    def _own(self, rows: Rows) -> dict[str, Scores]:
        return scoring.item_factors(self.items, self.query, self.shared.steady, rows, self.lexical, self.dense)


def rank(
    profile: TaskProfile,
    items: CompiledItems,
    *,
    top_k: int = 10,
    threshold: float = DEFAULT_THRESHOLD,
    allowed: Mask | None = None,
    lexical: Scores | None = None,
    dense: Scores | None = None,
) -> Ranking:
    """Return the best items for a task.

    Args:
        profile: what the task is (`read_task`).
        items: N compiled items.
        top_k: at most so many hits.
        threshold: hits score at least this; 0 keeps every item.
        allowed: (N,) mask of the items that may appear; it acts before the cut. None allows all.
        lexical: (N,) word similarity in [0, 1], e.g. BM25 over its maximum; None where there is none.
        dense: (N,) cosine similarity; None where there is none.

    Raises:
        ValueError: top_k is negative, or an array has not N entries.
    """
    _check(items, top_k, allowed, lexical, dense)
    query = query_vectors(profile)
    shared = scoring.shared_factors(items.conditions, query)
    asked = _Asked(items, query, shared, product(shared.factors), lexical, dense)
    total = len(items) if allowed is None else int(np.count_nonzero(allowed))
    best_rows, best_scores = np.empty(0, dtype=np.intp), np.empty(0)
    below = 0
    for rows, next_bound in _batches(asked, allowed, total):
        scores = asked.scores(rows)
        passing = scores >= threshold
        below += len(rows) - int(np.count_nonzero(passing))
        best_rows = np.concatenate([best_rows, rows[passing]])
        best_scores = np.concatenate([best_scores, scores[passing]])
        leading = _leading(best_scores, top_k)
        best_rows, best_scores = best_rows[leading], best_scores[leading]
        full = len(best_rows) >= top_k
        if not top_k or next_bound < threshold or (full and next_bound < best_scores.min()):
            break
    return Ranking(_hits(asked, _ordered(items, best_rows, best_scores)[:top_k]), total, below)


def _check(items: CompiledItems, top_k: int, *arrays: Mask | Scores | None) -> None:
    if top_k < 0:
        raise ValueError("top_k must not be negative")
    for array in arrays:
        if array is not None and array.shape != (len(items),):
            raise ValueError(f"expected an array of {len(items)} entries, got shape {array.shape}")


def _batches(asked: _Asked, allowed: Mask | None, total: int) -> Iterator[tuple[Rows, float]]:
    """Yield allowed items of the sets with the highest bounds, in growing batches, with the bound of all that
    follow.
    """
    items = asked.items
    if total <= FEW:
        yield (np.arange(len(items)) if allowed is None else np.flatnonzero(allowed)), -1.0
        return
    order = np.argsort(-asked.bounds, kind="stable")
    starts, sizes = items.starts[:-1].take(order), np.diff(items.starts).take(order)
    ends = np.cumsum(sizes)
    first, size = 0, FIRST_BATCH
    while first < len(order):
        done = int(ends[first - 1]) if first else 0
        last = min(int(np.searchsorted(ends, done + size)) + 1, len(order))
        # Set s begins in by_condition at starts[s], and in this batch at ends[s] - sizes[s] - done.
        shift = starts[first:last] - (ends[first:last] - sizes[first:last] - done)
        rows = items.by_condition.take(np.repeat(shift, sizes[first:last]) + np.arange(int(ends[last - 1]) - done))
        yield (
            rows if allowed is None else rows[allowed.take(rows)],
            float(asked.bounds[order[last]]) if last < len(order) else -1.0,
        )
        first, size = last, size * 2


def _leading(scores: Scores, top_k: int) -> Rows | slice:
    """Return the places of the `top_k` best scores, and of all that tie with the last of them."""
    if not top_k:
        return slice(0, 0)
    if len(scores) <= top_k:
        return slice(None)
    limit = np.partition(scores, len(scores) - top_k)[len(scores) - top_k]
    leading: Rows = np.flatnonzero(scores >= limit)
    return leading


def _ordered(items: CompiledItems, rows: Rows, scores: Scores) -> Rows:
    """Return rows by descending score; only ties are compared by id."""
    order = np.argsort(-scores, kind="stable")
    rows, scores = rows[order], scores[order]
    if len(rows) < 2 or not (scores[1:] == scores[:-1]).any():
        return rows
    found = sorted(range(len(rows)), key=lambda place: (-scores[place], items.ids[rows[place]]))
    return rows[found]


def _hits(asked: _Asked, rows: Rows) -> tuple[Hit, ...]:
    factors = asked.factors(rows)
    scores = product(factors).tolist()
    return tuple(
        Hit(row, asked.items.ids[row], scores[place], place, factors) for place, row in enumerate(rows.tolist())
    )


def product(parts: Mapping[str, Scores]) -> Scores:
    """Multiply factors in their order."""
    columns = iter(parts.values())
    result = next(columns).copy()
    for column in columns:
        result *= column
    return result
