"""Ranks the items of a snapshot for a task: filters first, then evidence, then the cut."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from app.memory.duplicates import Repeats
from app.memory.filters import compiled
from app.memory.measurements import measured_on, standing
from app.memory.ranking import CompiledItems, Hit, rank
from app.records import Item, Measurement
from app.retrieval.words import terms
from app.services.catalog import Snapshot
from app.services.tasks import ReadTask, TaskReader
from app.vocabulary import ItemKind, LeftOutReason

Mask = npt.NDArray[np.bool_]

DEEPER = 4
"""Near-duplicates are taken out of a ranking this many times as deep as asked for, so that the rest fills up."""

DENSE_BELOW = 0.8
"""Confidence of the task's reading under which the sentence model is asked as well."""


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
    score: float
    parts: Mapping[str, float]
    measured: Measurement | None = None


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
        allowed, leaks = _allowed(snapshot, task, wish)
        measured = measured_on(snapshot.measured, wish.hardware)
        depth = wish.top_k * DEEPER if wish.diversify else wish.top_k
        ranking = rank(
            task.profile,
            _on_hardware(snapshot, measured),
            top_k=depth,
            threshold=wish.threshold,
            allowed=allowed,
            lexical=_lexical(snapshot, task.words),
            dense=self._dense(snapshot, task, allowed),
        )
        hits, repeats = _diverse(snapshot, ranking.hits) if wish.diversify else (list(ranking.hits), 0)
        results = tuple(
            Ranked(snapshot.rankable[hit.index], hit.score, hit.parts, measured.get(hit.id))
            for hit in hits[: wish.top_k]
        )
        left_out = {
            LeftOutReason.THRESHOLD: ranking.below_threshold,
            LeftOutReason.DUPLICATE: repeats,
            LeftOutReason.LEAKAGE: leaks,
        }
        return RankedItems(results, ranking.total_candidates, left_out)

    def _dense(self, snapshot: Snapshot, task: ReadTask, allowed: Mask) -> npt.NDArray[np.float64] | None:
        """Cosines of all items, where the task's structure alone does not tell enough."""
        if task.profile.confidence >= DENSE_BELOW or not len(snapshot.rankable):
            return None
        return snapshot.vectors.similarities(self._tasks.vector(task.words), allowed).astype(np.float64)


def _allowed(snapshot: Snapshot, task: ReadTask, wish: Wish) -> tuple[Mask, int]:
    """Rows that may appear, and how many were kept out because they come from the very problem asked for."""
    test = compiled(wish.filters)
    problem = task.target.problem_id
    allowed = np.zeros(len(snapshot.rankable), dtype=bool)
    leaks = 0
    for row, item in enumerate(snapshot.rankable):
        if item.kind in wish.kinds and test(item):
            leaked = wish.exclude_source_problem and problem is not None and item.source_problem == problem
            leaks += leaked
            allowed[row] = not leaked
    return allowed, leaks


def _on_hardware(snapshot: Snapshot, measured: Mapping[str, Measurement]) -> CompiledItems:
    """The compiled items with what was measured on the asker's hardware."""
    if not measured:
        return snapshot.compiled
    standings = [standing(measured[item.id]) if item.id in measured else 1.0 for item in snapshot.rankable]
    return replace(snapshot.compiled, verification=np.array(standings))


def _lexical(snapshot: Snapshot, words: str) -> npt.NDArray[np.float64]:
    """BM25 of every item as a share of the best that any item reaches."""
    scores = snapshot.lexical.scores(terms(words)).astype(np.float64)
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


def _diverse(snapshot: Snapshot, hits: tuple[Hit, ...]) -> tuple[list[Hit], int]:
    """The hits less those that repeat a better one."""
    repeats = Repeats()
    kept = [hit for hit in hits if repeats.first_sight(snapshot.rankable[hit.index]) is None]
    return kept, len(hits) - len(kept)
