"""Votes by day: helpful ones upward, harmful ones downward from one line."""

from collections.abc import Sequence

from markupsafe import Markup

from app.admin.charts.drawing import drawing, element, line, text
from app.admin.charts.figure import Figure, figure
from app.admin.charts.scale import Scale, count_scale, plain
from app.services.overview import DayOfVotes

HEIGHT = 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 8, 26, 40


def votes_by_day(days: Sequence[DayOfVotes]) -> Figure:
    """Columns of the votes of each day."""
    helpful, harmful = sum(day.helpful for day in days), sum(day.harmful for day in days)
    return figure(
        "Votes by day",
        f"{helpful} helpful and {harmful} harmful votes in {len(days)} days.",
        ("day (UTC)", "helpful votes", "harmful votes"),
        [(day.day.isoformat(), day.helpful, day.harmful) for day in days],
        lambda width: _drawn(days, width, f"Votes by day: {helpful} helpful, {harmful} harmful."),
    )


def _drawn(days: Sequence[DayOfVotes], width: int, label: str) -> Markup:
    most, least = max(day.helpful for day in days), max(day.harmful for day in days)
    up = count_scale(min(-least, 0), max(most, 1), HEIGHT - _BOTTOM, _TOP)
    slot = (width - _LEFT - _RIGHT) / len(days)
    parts = [text(0, 12, "votes per day", "axis"), text(width - _RIGHT, HEIGHT - 4, "day (UTC)", "axis", "end")]
    for tick in up.ticks:
        parts.append(line(_LEFT, up(tick), width - _RIGHT, up(tick), "zero" if tick == 0 else "grid"))
        parts.append(text(_LEFT - 8, up(tick) + 4, plain(abs(tick)), "tick", "end"))
    for place, day in enumerate(days):
        x = _LEFT + slot * place
        parts.extend(_column(x + slot * 0.22, slot * 0.56, up, day))
        name = day.day.strftime("%a %d") if width > 400 else day.day.strftime("%d")
        parts.append(text(x + slot / 2, HEIGHT - _BOTTOM + 16, name, "tick", "middle"))
    return drawing(width, HEIGHT, label, parts)


def _column(x: float, width: float, up: Scale, day: DayOfVotes) -> list[Markup]:
    parts = []
    for value, class_ in ((day.helpful, "helpful"), (-day.harmful, "harmful")):
        if value:
            top, foot = sorted((up(value), up(0)))
            parts.append(element("rect", x=x, y=top, width=width, height=foot - top, rx=2, class_=class_))
    return parts
