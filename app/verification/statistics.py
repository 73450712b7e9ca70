"""Statistics of rounds and their ratios. Pure functions of lists of floats; the standard library is enough."""

import itertools
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


def ratio_of(
    baseline_ms: list[float], candidate_ms: list[float], pair_rounds: list[int] | None = None, seed: int = 0
) -> Ratio:
    """baseline / candidate, round by round. Both lists are milliseconds of the same rounds, in the same order.

    `pair_rounds` counts the rounds of each pair of processes, where there were several: the ratio is then the mean of
    the pairs' medians. The bounds are percentiles of the bootstrapped log ratio, in which pairs are drawn first and
    then rounds of each. Raises ValueError without rounds, or when the counts are not those of the rounds.
    """
    logs = [math.log(b / c) for b, c in zip(baseline_ms, candidate_ms, strict=True)]
    if not logs:
        raise ValueError("no rounds")
    pairs = _split(logs, pair_rounds or [len(logs)])
    source = random.Random(seed)
    draws = sorted(_drawn(pairs, source) for _ in range(BOOTSTRAP_DRAWS))
    low, high = draws[int(_TAIL * len(draws))], draws[math.ceil((1 - _TAIL) * len(draws)) - 1]
    middle = statistics.fmean(map(statistics.median, pairs))
    return Ratio(*map(math.exp, (middle, min(low, middle), max(high, middle), statistics.fmean(logs))))


def _split(values: list[float], counts: list[int]) -> list[list[float]]:
    if sum(counts) != len(values) or min(counts) < 1:
        raise ValueError(f"pairs of {counts} rounds are not {len(values)} rounds")
    ends = list(itertools.accumulate(counts))
    return [values[end - count : end] for end, count in zip(ends, counts, strict=True)]


def _drawn(pairs: list[list[float]], source: random.Random) -> float:
    chosen = source.choices(pairs, k=len(pairs)) if len(pairs) > 1 else pairs
    return statistics.fmean(statistics.median(source.choices(logs, k=len(logs))) for logs in chosen)


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
