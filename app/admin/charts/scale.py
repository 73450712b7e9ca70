"""From values to pixels, with ticks at round values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear scale: `low` lies at the pixel `start`, `high` at `end`."""

    low: float
    high: float
    start: float
    end: float
    ticks: Sequence[float]

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def round_scale(low: float, high: float, start: float, end: float, about: int = 5) -> Scale:
    """A scale over at least [low, high] whose ends and about `about` ticks are round."""
    if high <= low:
        high = low + 1
    step = _round_step((high - low) / about)
    first, last = math.floor(low / step), math.ceil(high / step)
    ticks = [number * step for number in range(first, last + 1)]
    return Scale(ticks[0], ticks[-1], start, end, ticks)


def count_scale(low: int, high: int, start: float, end: float) -> Scale:
    """A scale of whole numbers."""
    step = max(1.0, _round_step((high - low) / 4 or 1))
    first, last = math.floor(low / step), max(math.ceil(high / step), 1)
    ticks = [number * step for number in range(first, last + 1)]
    return Scale(ticks[0], ticks[-1], start, end, ticks)


_SPANS = [timedelta(minutes=m) for m in (1, 5, 15, 60, 180, 720, 1440, 2880, 10080, 43200, 129600, 525600)]


@dataclass(frozen=True, slots=True)
class TimeScale:
    """A scale of moments."""

    scale: Scale
    labels: Sequence[tuple[float, str]]
    """(pixel, words) of each tick."""

    def __call__(self, at: datetime) -> float:
        """The pixel of a moment."""
        return self.scale(at.timestamp())


def time_scale(first: datetime, last: datetime, start: float, end: float, about: int = 5) -> TimeScale:
    """A scale from the first moment to the last, ticks at round times (UTC)."""
    span = max(last - first, timedelta(minutes=2))
    low, high = last.timestamp() - span.total_seconds(), last.timestamp()
    step = next((s for s in _SPANS if s * about >= span), _SPANS[-1]).total_seconds()
    moments = [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]
    scale = Scale(low, high, start, end, moments)
    form = "%H:%M" if step < 86_400 and span < timedelta(days=1) else "%b %d" if span < timedelta(days=300) else "%Y-%m"
    form = "%b %d %H:%M" if step < 86_400 and span >= timedelta(days=1) else form
    return TimeScale(scale, [(scale(m), datetime.fromtimestamp(m, UTC).strftime(form)) for m in moments])


def _round_step(rough: float) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that is no smaller."""
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)


def plain(value: float) -> str:
    """A tick's value without needless zeros."""
    return f"{value:g}"
