"""Statistics of rounds and their ratios. Pure functions of lists of floats; the standard library is enough."""

import math
import random
import statistics
from dataclasses import dataclass

from app.verification.protocol import BOOTSTRAP_DRAWS

_TAIL = 0.05
_LEAST_MS = 1e-4


@dataclass(frozen=True)
class Ratio:
    """A ratio of times over paired rounds: median, one-sided 95 % bounds of it, and the geometric mean."""

    median: float
    lo95: float
    hi95: float
    mean: float


def ratio_of(baseline_ms: list[float], candidate_ms: list[float], seed: int = 0) -> Ratio:
    """baseline / candidate, round by round. Both lists are milliseconds of the same rounds, in the same order.

    The bounds are percentiles of the bootstrapped median of the log ratios. Raises ValueError without rounds.
    """
    logs = [math.log(b / c) for b, c in zip(baseline_ms, candidate_ms, strict=True)]
    if not logs:
        raise ValueError("no rounds")
    source = random.Random(seed)
    draws = sorted(statistics.median(source.choices(logs, k=len(logs))) for _ in range(BOOTSTRAP_DRAWS))
    low, high = draws[int(_TAIL * len(draws))], draws[math.ceil((1 - _TAIL) * len(draws)) - 1]
    return Ratio(math.exp(statistics.median(logs)), math.exp(low), math.exp(high), math.exp(statistics.fmean(logs)))


def median_of(values: list[float]) -> float:
    """The median; raises statistics.StatisticsError without values."""
    return statistics.median(values)


def less_measuring(stream_ms: list[float], gap_ms: list[float], longest_gap_ms: float) -> list[float]:
    """Times of one side's rounds: until the caller's stream was done, and no longer where that is all there was.

    `gap_ms` is by how much the whole device's end came after the stream's. Where it is typically longer than measuring
    explains, as with work left on other streams, what is beyond `longest_gap_ms` counts too.
    """
    if median_of(gap_ms) <= longest_gap_ms:
        return [max(stream, _LEAST_MS) for stream in stream_ms]
    rounds = zip(stream_ms, gap_ms, strict=True)
    return [max(stream + max(gap - longest_gap_ms, 0.0), _LEAST_MS) for stream, gap in rounds]
