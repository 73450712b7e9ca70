"""An item's counters over time, as steps."""

from collections.abc import Sequence
from datetime import datetime

from markupsafe import Markup

from app.admin.charts.drawing import drawing, element, line, text
from app.admin.charts.figure import Figure, figure
from app.admin.charts.scale import Scale, TimeScale, count_scale, plain, time_scale

HEIGHT = 200
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 12, 26, 40

Steps = Sequence[tuple[datetime, int, int]]


def counters_over_time(steps: Steps, until: datetime) -> Figure:
    """Helpful and harmful votes of one item after each vote, up to `until`."""
    at, helpful, harmful = steps[-1]
    summary = f"{helpful} helpful and {harmful} harmful votes after {len(steps)} changes, the last at {at:%Y-%m-%d}."
    return figure(
        "Counters over time",
        summary,
        ("at (UTC)", "helpful votes", "harmful votes"),
        [(moment.isoformat(), up, down) for moment, up, down in steps],
        lambda width: _drawn(steps, until, width, summary),
    )


def _drawn(steps: Steps, until: datetime, width: int, label: str) -> Markup:
    up = count_scale(0, max(max(h, b) for _, h, b in steps), HEIGHT - _BOTTOM, _TOP)
    along = time_scale(steps[0][0], max(until, steps[-1][0]), _LEFT, width - _RIGHT, 5 if width > 400 else 3)
    parts = [text(0, 12, "votes", "axis"), text(width - _RIGHT, HEIGHT - 4, "time (UTC)", "axis", "end")]
    for tick in up.ticks:
        parts.append(line(_LEFT, up(tick), width - _RIGHT, up(tick), "zero" if tick == 0 else "grid"))
        parts.append(text(_LEFT - 8, up(tick) + 4, plain(tick), "tick", "end"))
    for x, words in along.labels:
        parts.append(line(x, HEIGHT - _BOTTOM, x, HEIGHT - _BOTTOM + 4, "zero"))
        parts.append(text(min(x, width - 34), HEIGHT - _BOTTOM + 17, words, "tick", "middle"))
    for column, class_ in ((1, "harmful"), (0, "helpful")):
        points = [(at, votes[column]) for at, *votes in steps]
        parts.append(element("path", d=_path(points, along, up, width - _RIGHT), class_=f"series {class_}"))
    return drawing(width, HEIGHT, label, parts)


def _path(points: Sequence[tuple[datetime, int]], along: TimeScale, up: Scale, end: float) -> str:
    moves = [f"M{along(points[0][0]):.1f} {up(0):.1f}"]
    moves += [f"H{along(at):.1f}V{up(value):.1f}" for at, value in points]
    return "".join([*moves, f"H{end:.1f}"])
