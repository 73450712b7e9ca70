"""Ranking metrics as pure functions of a ranked id list and graded relevance.

Tie rule: a scorer's equal scores are ordered by item id, ascending, before any metric is taken, so that a metric is a
function of the scores alone. Gain is ``2^grade - 1``; an item counts as relevant for recall and MRR from grade 2 on.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

RELEVANT = 2.0


def ordered(scores: Mapping[str, float]) -> list[str]:
    """Return item ids by descending score, ties by id."""
    return sorted(scores, key=lambda item: (-scores[item], item))


def ndcg(ranked: Sequence[str], grades: Mapping[str, float], cut: int = 10) -> float:
    """Return nDCG at a cut with gain ``2^grade - 1`` and discount ``1 / log2(rank + 1)``; 0 where nothing is
    relevant.
    """
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    best = sum((2**grade - 1) / math.log2(rank + 2) for rank, grade in enumerate(ideal[:cut]))
    found = sum((2 ** grades.get(item, 0.0) - 1) / math.log2(rank + 2) for rank, item in enumerate(ranked[:cut]))
    return found / best if best else 0.0


def recall(ranked: Sequence[str], grades: Mapping[str, float], cut: int) -> float | None:
    """Return the share of relevant items within the cut (at most cut of them can be); None where none is relevant."""
    relevant = {item for item, grade in grades.items() if grade >= RELEVANT}
    if not relevant:
        return None
    return len(relevant & set(ranked[:cut])) / min(len(relevant), cut)


def reciprocal_rank(ranked: Sequence[str], grades: Mapping[str, float]) -> float | None:
    """Return 1 / rank of the first relevant item, 0 if it is not ranked, None where none is relevant."""
    if not any(grade >= RELEVANT for grade in grades.values()):
        return None
    return next((1 / (rank + 1) for rank, item in enumerate(ranked) if grades.get(item, 0.0) >= RELEVANT), 0.0)


def mean(values: Sequence[float | None]) -> float:
    """Return the mean of the values that exist, 0 for none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else 0.0


def bootstrap_interval(
    values: Sequence[float], *, resamples: int = 2000, level: float = 0.95, seed: int = 7
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean. Pass one value per problem: wordings of a problem are not
    independent.
    """
    if not values:
        return 0.0, 0.0
    chooser = random.Random(seed)
    means = sorted(sum(chooser.choices(values, k=len(values))) / len(values) for _ in range(resamples))
    tail = (1 - level) / 2
    return means[int(tail * resamples)], means[min(int((1 - tail) * resamples), resamples - 1)]
