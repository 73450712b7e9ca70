"""Plots as SVG text: points over labelled axes with round numbers. Every text is escaped; nothing is fetched."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

WIDTH, HEIGHT = 560, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 34, 52
_INK, _LINE, _DOT, _GOOD = "#333", "#ccc", "#1f5fa8", "#888"


@dataclass(frozen=True, slots=True)
class Dot:
    """One point; `low` and `high` are the ends of its error bar, `name` is shown when one points at it."""

    x: float
    y: float
    name: str
    low: float | None = None
    high: float | None = None


def scatter(dots: Sequence[Dot], title: str, x_label: str, y_label: str) -> str:
    """Both axes logarithmic and alike, with the line on which both values are equal."""
    values = [value for dot in dots for value in (dot.x, dot.y, dot.low, dot.high) if value]
    low, high = min([*values, 0.9]) / 1.1, max([*values, 1.1]) * 1.1
    ticks = [tick for tick in _LOG_TICKS if low <= tick <= high]
    x_at, y_at = _scale(low, high, _LEFT, WIDTH - _RIGHT, log=True), _scale(low, high, HEIGHT - _BOTTOM, _TOP, log=True)
    parts = _frame(title, x_label, y_label)
    for tick in ticks:
        parts += [_grid_x(x_at(tick), f"{tick:g}"), _grid_y(y_at(tick), f"{tick:g}")]
    parts.append(_stroke(x_at(low), y_at(low), x_at(high), y_at(high), _GOOD, "4 3"))
    parts += [_mark(dot, x_at(dot.x), y_at) for dot in dots]
    return _svg(parts, title)


def timeline(dots: Sequence[Dot], labels: Sequence[str], title: str, y_label: str) -> str:
    """Values over moments, joined by a line. A dot's `x` is the place of its moment in `labels`."""
    values = [value for dot in dots for value in (dot.y, dot.low, dot.high) if value is not None]
    low, high = 0.0, max([*values, 1.0]) * 1.15
    last = max(1, len(labels) - 1)
    x_at, y_at = _scale(0, last, _LEFT + 12, WIDTH - _RIGHT - 12), _scale(low, high, HEIGHT - _BOTTOM, _TOP)
    parts = _frame(title, "date of the run (UTC)", y_label)
    every = max(1, math.ceil(len(labels) / 6))
    parts += [_grid_x(x_at(place), label) for place, label in enumerate(labels) if place % every == 0]
    parts += [_grid_y(y_at(tick), f"{tick:g}") for tick in _round_ticks(high)]
    parts.append(_stroke(_LEFT, y_at(1), WIDTH - _RIGHT, y_at(1), _GOOD, "4 3"))
    ordered = sorted(dots, key=lambda dot: dot.x)
    for one, two in pairwise(ordered):
        parts.append(_stroke(x_at(one.x), y_at(one.y), x_at(two.x), y_at(two.y), _DOT))
    parts += [_mark(dot, x_at(dot.x), y_at) for dot in ordered]
    return _svg(parts, title)


_LOG_TICKS = [step * 10.0**power for power in range(-3, 5) for step in (1, 2, 5)]


def _round_ticks(high: float) -> list[float]:
    step = 10 ** math.floor(math.log10(high / 2))
    while high / step > 6:
        step *= 2
    return [round(number * step, 6) for number in range(int(high / step) + 1)]


class _scale:
    """From a value to its place on the page."""

    def __init__(self, low: float, high: float, start: float, end: float, *, log: bool = False) -> None:
        self._of = math.log10 if log else float
        self._low, self._span = self._of(low), (self._of(high) - self._of(low)) or 1.0
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        share = (self._of(value) - self._low) / self._span
        return self._start + share * (self._end - self._start)


def _frame(title: str, x_label: str, y_label: str) -> list[str]:
    middle = (_TOP + HEIGHT - _BOTTOM) / 2
    return [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        _text(WIDTH / 2, 20, title, size=14),
        _text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 10, x_label),
        f'<g transform="rotate(-90 16 {middle:.1f})">{_text(16, middle, y_label)}</g>',
        _stroke(_LEFT, HEIGHT - _BOTTOM, WIDTH - _RIGHT, HEIGHT - _BOTTOM, _INK),
        _stroke(_LEFT, _TOP, _LEFT, HEIGHT - _BOTTOM, _INK),
    ]


def _grid_x(x: float, label: str) -> str:
    return _stroke(x, _TOP, x, HEIGHT - _BOTTOM, _LINE) + _text(x, HEIGHT - _BOTTOM + 18, label, size=11)


def _grid_y(y: float, label: str) -> str:
    return _stroke(_LEFT, y, WIDTH - _RIGHT, y, _LINE) + _text(_LEFT - 6, y + 4, label, anchor="end", size=11)


def _mark(dot: Dot, x: float, y_at: _scale) -> str:
    bar = "" if dot.low is None or dot.high is None else _stroke(x, y_at(dot.low), x, y_at(dot.high), _DOT)
    name = f"<title>{escape(dot.name)}</title>"
    return f'{bar}<circle cx="{x:.1f}" cy="{y_at(dot.y):.1f}" r="4" fill="{_DOT}">{name}</circle>'


def _text(x: float, y: float, text: str, *, anchor: str = "middle", size: int = 12) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
    return f'<text {place} font-family="sans-serif" fill="{_INK}">{escape(text)}</text>'


def _stroke(x1: float, y1: float, x2: float, y2: float, colour: str, dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"{dashed}/>'


def _svg(parts: Sequence[str], title: str) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" width="{WIDTH}"'
    return f'{head} aria-label="{escape(title)}">{"".join(parts)}</svg>'
