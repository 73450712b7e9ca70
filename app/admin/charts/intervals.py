"""Speedups with the bounds of their measurement: beside their claims, and over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from app.admin.charts.drawing import drawing, element, line, text
from app.admin.charts.figure import Figure, figure
from app.admin.charts.scale import Scale, plain, round_scale, time_scale

ROW = 44
_TOP, _BOTTOM, _SIDE = 8, 40, 14
_AXIS = "speedup over eager (×)"


@dataclass(frozen=True, slots=True)
class Measured:
    """One kernel on one kind of hardware; ratios over eager, None where there is none."""

    kernel: str
    hardware: str
    claimed: float | None
    speedup: float | None
    low: float | None
    high: float | None
    at: datetime | None
    verdict: str

    @property
    def values(self) -> list[float]:
        """All ratios that there are."""
        return [value for value in (self.claimed, self.speedup, self.low, self.high) if value is not None]


_HEADER = ("kernel", "hardware", "claimed", "measured", "low 95 %", "high 95 %", "verdict", "at (UTC)")


def _rows(measured: Sequence[Measured]) -> list[tuple[object, ...]]:
    return [
        (m.kernel, m.hardware, m.claimed, m.speedup, m.low, m.high, m.verdict, m.at.isoformat() if m.at else None)
        for m in measured
    ]


def claimed_and_measured(measured: Sequence[Measured]) -> Figure:
    """A line for each kernel and hardware: the claim as a ring, the measurement as a dot with its 95 % bounds."""
    with_figures = [m for m in measured if m.speedup is not None]
    below = sum(m.claimed is not None and m.speedup is not None and m.speedup < m.claimed * 0.95 for m in measured)
    summary = f"{len(with_figures)} measurements of {len({m.kernel for m in measured})} kernels; {below} below claim."
    return figure(
        "Claimed and measured",
        summary,
        _HEADER,
        _rows(measured),
        lambda width: _claims(measured, width, summary),
    )


def _claims(measured: Sequence[Measured], width: int, label: str) -> Markup:
    top = max([1.0, *(value for m in measured for value in m.values)])
    along = round_scale(0, top, _SIDE, width - _SIDE, 6 if width > 400 else 4)
    height = _TOP + ROW * len(measured) + _BOTTOM
    foot = height - _BOTTOM
    parts = [text(width - _SIDE, height - 4, _AXIS, "axis", "end")]
    for tick in along.ticks:
        parts.append(line(along(tick), _TOP, along(tick), foot, "grid"))
        parts.append(text(along(tick), foot + 16, f"{plain(tick)}×", "tick", "middle"))
    parts.append(line(along(1.0), _TOP, along(1.0), foot, "reference"))
    for place, m in enumerate(measured):
        parts.extend(_one(m, along, _TOP + ROW * place, width))
    return drawing(width, height, label, parts)


def _one(m: Measured, along: Scale, y: float, width: int) -> list[Markup]:
    middle = y + 29
    words = m.verdict.replace("_", " ") if m.speedup is None else f"{m.speedup:.2f}×"
    parts = [
        text(_SIDE, y + 14, f"{m.kernel} · {m.hardware}", "name"),
        text(width - _SIDE, y + 14, words, "name", "end"),
        line(along(0), middle, width - _SIDE, middle, "grid"),
    ]
    if m.claimed is not None:
        parts.append(element("circle", cx=along(m.claimed), cy=middle, r=5, class_="claimed"))
    if m.speedup is not None:
        parts.extend(_bounds(along(m.speedup), m.low, m.high, along, middle))
    return parts


def _bounds(x: float, low: float | None, high: float | None, along: Scale, y: float) -> list[Markup]:
    parts = []
    if low is not None and high is not None:
        parts.append(line(along(low), y, along(high), y, "bounds"))
        parts.extend(line(along(end), y - 4, along(end), y + 4, "bounds") for end in (low, high))
    parts.append(element("circle", cx=x, cy=y, r=3.5, class_="measured"))
    return parts


_HEIGHT, _LEFT = 220, 44


def speedups_over_time(measured: Sequence[Measured]) -> Figure:
    """Measurements of one kernel, oldest first, with their 95 % bounds and the claim as a line."""
    found = [m for m in measured if m.speedup is not None and m.at is not None]
    summary = f"{len(found)} measurements of {found[-1].kernel}, the last {found[-1].speedup:.2f} times eager."
    return figure("Speedup over time", summary, _HEADER, _rows(found), lambda width: _history(found, width, summary))


def _history(found: Sequence[Measured], width: int, label: str) -> Markup:
    up = round_scale(0, max([1.0, *(value for m in found for value in m.values)]), _HEIGHT - _BOTTOM, 26)
    moments = [m.at for m in found if m.at is not None]
    along = time_scale(moments[0], moments[-1], _LEFT + 10, width - _SIDE - 10, 5 if width > 400 else 3)
    parts = [text(0, 12, _AXIS, "axis"), text(width - _SIDE, _HEIGHT - 4, "time of the run (UTC)", "axis", "end")]
    for tick in up.ticks:
        parts.append(line(_LEFT, up(tick), width - _SIDE, up(tick), "zero" if tick == 0 else "grid"))
        parts.append(text(_LEFT - 8, up(tick) + 4, f"{plain(tick)}×", "tick", "end"))
    for x, words in along.labels:
        parts.append(text(min(x, width - 40), _HEIGHT - _BOTTOM + 17, words, "tick", "middle"))
    parts.append(line(_LEFT, up(1.0), width - _SIDE, up(1.0), "reference"))
    claimed = found[-1].claimed
    if claimed is not None:
        parts.append(line(_LEFT, up(claimed), width - _SIDE, up(claimed), "claim-line"))
    for m in found:
        if m.at is not None and m.speedup is not None:
            parts.extend(_upright(along(m.at), m, up))
    return drawing(width, _HEIGHT, label, parts)


def _upright(x: float, m: Measured, up: Scale) -> list[Markup]:
    parts = []
    if m.low is not None and m.high is not None:
        parts.append(line(x, up(m.low), x, up(m.high), "bounds"))
        parts.extend(line(x - 4, up(end), x + 4, up(end), "bounds") for end in (m.low, m.high))
    parts.append(element("circle", cx=x, cy=up(m.speedup or 0), r=3.5, class_="measured"))
    return parts
