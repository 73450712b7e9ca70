"""Figures of merit as pure functions: ranking quality, percentiles."""

import math
from collections.abc import Mapping, Sequence


def ndcg(ranked: Sequence[str], grades: Mapping[str, float], depth: int = 10) -> float:
    """Normalised discounted cumulative gain in [0, 1] at `depth`, gain 2^grade - 1, discount log2(place + 1).

    Items without a grade gain nothing; where nothing is graded above zero the measure is undefined and 0 is returned.
    """
    ideal = _discounted(sorted(grades.values(), reverse=True)[:depth])
    return _discounted([grades.get(item_id, 0.0) for item_id in ranked[:depth]]) / ideal if ideal else 0.0


def _discounted(grades: Sequence[float]) -> float:
    return math.fsum((2.0**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0 to 1) of the values do not exceed."""
    if not values:
        raise ValueError("no values")
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
