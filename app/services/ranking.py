"""Ranks the items of a snapshot for a task: filters first, then evidence, then the cut."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from app.memory.duplicates import Repeats
from app.memory.filters import compiled
from app.memory.measurements import measured_on, standing
from app.memory.ranking import CompiledItems, Hit, rank
from app.records import Item, Measurement
from app.retrieval.words import terms
from app.services.catalog import Snapshot, Votes
from app.services.indexes import Indexes
from app.services.tasks import ReadTask, TaskReader
from app.vocabulary import ItemKind, LeftOutReason

Mask = npt.NDArray[np.bool_]

DEEPER = 4
"""Near-duplicates are taken out of a ranking this many times as deep as asked for, so that the rest fills up."""

DENSE_BELOW = 0.3
"""Confidence of the task's reading under which the sentence model is asked as well; above it, that adds nothing."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a ranking shall hold."""

    top_k: int = 10
    threshold: float = 0.0
    kinds: frozenset[ItemKind] = frozenset(ItemKind)
    filters: Mapping[str, Any] | None = None
    reader: str | None = None
    hardware: str | None = None
    exclude_source_problem: bool = True
    diversify: bool = True


@dataclass(frozen=True, slots=True)
class Ranked:
    """An item with its score in [0, 1] and the factors whose product the score is."""

    item: Item
    hit: Hit
    measured: Measurement | None = None

    @property
    def score(self) -> float:
        """The final score."""
        return self.hit.score

    @property
    def parts(self) -> Mapping[str, float]:
        """The factors, worked out when they are asked for."""
        return self.hit.parts


@dataclass(frozen=True, slots=True)
class RankedItems:
    """A ranking, how many items were candidates after the filters, and what was left out."""

    results: tuple[Ranked, ...]
    total_candidates: int
    left_out: Mapping[LeftOutReason, int] = field(default_factory=dict)


class Ranker:
    """Ranks snapshots; holds nothing but the reader of tasks."""

    def __init__(self, tasks: TaskReader) -> None:
        self._tasks = tasks

    def rank(self, snapshot: Snapshot, task: ReadTask, wish: Wish) -> RankedItems:
        """The best items, best first; the same snapshot, task and wish always give the same answer."""
        indexes = snapshot.indexes
        allowed, leaks = _allowed(indexes, task, wish)
        measured = measured_on(snapshot.measured, wish.hardware)
        depth = wish.top_k * DEEPER if wish.diversify else wish.top_k
        ranking = rank(
            task.profile,
            _for_asker(indexes, snapshot.votes.get(wish.reader or "", {}), measured),
            top_k=depth,
            threshold=wish.threshold,
            allowed=allowed,
            lexical=_lexical(indexes, task.words),
            dense=self._dense(indexes, task, allowed),
        )
        hits, repeats = _diverse(indexes, ranking.hits, wish.top_k) if wish.diversify else (list(ranking.hits), 0)
        results = tuple(Ranked(indexes.items[hit.index], hit, measured.get(hit.id)) for hit in hits[: wish.top_k])
        left_out = {
            LeftOutReason.THRESHOLD: ranking.below_threshold,
            LeftOutReason.DUPLICATE: repeats,
            LeftOutReason.LEAKAGE: leaks,
        }
        return RankedItems(results, ranking.total_candidates, left_out)

    def _dense(self, indexes: Indexes, task: ReadTask, allowed: Mask | None) -> npt.NDArray[np.float64] | None:
        """Cosines of all items, where the task's structure alone does not tell enough."""
        if task.profile.confidence >= DENSE_BELOW or not len(indexes):
            return None
        found = indexes.similarities(self._tasks.vector(task.words), allowed)
        return None if found is None else found.astype(np.float64)


def _allowed(indexes: Indexes, task: ReadTask, wish: Wish) -> tuple[Mask | None, int]:
    """Rows that may appear (None where all may), and how many were kept out because they come from the very problem
    asked for.
    """
    allowed = indexes.of_kinds(wish.kinds)
    test = compiled(wish.filters)
    if wish.filters:
        allowed = indexes.live.copy() if allowed is None else allowed
        rows = np.flatnonzero(allowed)
        allowed[rows] = [test(indexes.items[row]) for row in rows]
    own = list(indexes.by_source.get(task.target.problem_id or "", ())) if wish.exclude_source_problem else []
    if not own:
        return allowed, 0
    allowed = indexes.live.copy() if allowed is None else allowed
    leaks = int(allowed[own].sum())
    allowed[own] = False
    return allowed, leaks


def _for_asker(indexes: Indexes, votes: Votes, measured: Mapping[str, Measurement]) -> CompiledItems:
    """The compiled items with the asking reader's own votes, and with what was measured on the asker's hardware."""
    items, places = indexes.compiled, indexes.places
    if known := [(places[item_id], counts) for item_id, counts in votes.items() if item_id in places]:
        counted = np.array([counts for _, counts in known], dtype=np.float64)
        items = items.read_by(np.array([row for row, _ in known]), counted[:, 0], counted[:, 1])
    if runs := [(places[item_id], standing(run)) for item_id, run in measured.items() if item_id in places]:
        items = items.verified(np.array([row for row, _ in runs]), np.array([found for _, found in runs]))
    return items


def _lexical(indexes: Indexes, words: str) -> npt.NDArray[np.float64]:
    """BM25 of every item as a share of the best that any item reaches."""
    scores = indexes.lexical.scores(terms(words)).astype(np.float64)
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


def _diverse(indexes: Indexes, hits: tuple[Hit, ...], top_k: int) -> tuple[list[Hit], int]:
    """The first `top_k` hits that repeat no better one, and how many that do were passed over for them."""
    repeats = Repeats()
    kept: list[Hit] = []
    for seen, hit in enumerate(hits):
        if len(kept) == top_k:
            return kept, seen - len(kept)
        if repeats.first_sight(indexes.items[hit.index]) is None:
            kept.append(hit)
    return kept, len(hits) - len(kept)
