"""Small SVG plots, written by hand so that they need no library: lines over a logarithmic axis, and bars."""

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 72, 180, 40, 56
COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#8e6c8a", "#d4a017", "#4a4e69", "#2a9d8f", "#9c6644")

Points = Sequence[tuple[float, float]]


def lines(title: str, x_label: str, y_label: str, series: Mapping[str, Points]) -> str:
    """Lines with points; both axes are logarithmic. Empty without a positive point."""
    kept = {name: [(x, y) for x, y in points if x > 0 and y > 0] for name, points in series.items()}
    every = [point for points in kept.values() for point in points]
    if not every:
        return ""
    x_ticks, y_ticks = _decades([x for x, _ in every]), _decades([y for _, y in every])
    body = []
    for x in x_ticks:
        body.append(_text(_place(x, x_ticks, *_ACROSS), HEIGHT - BOTTOM + 18, f"{x:,g}", "middle"))
    for y in y_ticks:
        height = _place(y, y_ticks, *_UP)
        body.append(_line(LEFT, height, WIDTH - RIGHT, height, "#dddddd"))
        body.append(_text(LEFT - 8, height + 4, f"{y:,g}", "end"))
    for number, (name, points) in enumerate(kept.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [(_place(x, x_ticks, *_ACROSS), _place(y, y_ticks, *_UP)) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        body.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{path}"/>')
        body.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places)
        body.append(_key(number, colour, name))
    return _framed(title, x_label, y_label, body)


def bars(title: str, x_label: str, values: Mapping[str, float], *, logarithmic: bool = False) -> str:
    """Horizontal bars, each with its value. Empty without a positive value."""
    kept = {name: value for name, value in values.items() if value > 0}
    if not kept:
        return ""
    step = 28
    height = TOP + BOTTOM + step * len(kept)
    ticks = _decades(list(kept.values())) if logarithmic else [0.0, max(kept.values())]
    room = WIDTH - 2 * RIGHT - 20
    body = []
    for number, (name, value) in enumerate(kept.items()):
        share = _share(value, ticks) if logarithmic else value / ticks[-1]
        top = TOP + step * number
        body.append(_text(RIGHT + 10, top + 14, name, "end"))
        colour = COLOURS[1] if name.startswith("Kernel Playbook") else COLOURS[0]
        body.append(
            f'<rect x="{RIGHT + 18}" y="{top}" width="{max(share * room, 1):.1f}" height="18" fill="{colour}"/>'
        )
        body.append(_text(RIGHT + 24 + max(share * room, 1), top + 14, f"{value:,.3g}", "start"))
    body.append(_text(RIGHT + 18 + room / 2, height - 18, x_label, "middle"))
    return _document(title, body, height)


def _decades(values: Sequence[float]) -> list[float]:
    """Powers of ten around the values, at least two."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return [10.0**power for power in range(low, max(high, low + 1) + 1)]


def _share(value: float, ticks: Sequence[float]) -> float:
    low, high = math.log10(ticks[0]), math.log10(ticks[-1])
    return (math.log10(value) - low) / (high - low)


def _place(value: float, ticks: Sequence[float], start: float, end: float) -> float:
    return start + _share(value, ticks) * (end - start)


_ACROSS = (LEFT, WIDTH - RIGHT)
_UP = (HEIGHT - BOTTOM, TOP)


def _framed(title: str, x_label: str, y_label: str, body: Sequence[str]) -> str:
    middle = (TOP + HEIGHT - BOTTOM) / 2
    axes = [
        _line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "#333333"),
        _line(LEFT, TOP, LEFT, HEIGHT - BOTTOM, "#333333"),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, x_label, "middle"),
        f'<text x="18" y="{middle}" text-anchor="middle" transform="rotate(-90 18 {middle})">{escape(y_label)}</text>',
    ]
    return _document(title, [*axes, *body], HEIGHT)


def _document(title: str, body: Sequence[str], height: int) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="12" fill="#222222">'
    )
    background = f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    heading = f'<text x="{WIDTH / 2}" y="22" text-anchor="middle" font-size="14">{escape(title)}</text>'
    return "\n".join([head, background, heading, *body, "</svg>"]) + "\n"


def _key(number: int, colour: str, name: str) -> str:
    left, top = WIDTH - RIGHT + 14, TOP + 20 * number
    return f'<rect x="{left}" y="{top}" width="12" height="12" fill="{colour}"/>' + _text(
        left + 18, top + 10, name, "start"
    )


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
