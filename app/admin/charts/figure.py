"""A chart in the two widths that pages have room for, with the data that it shows."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

WIDE = 680
NARROW = 320
"""Pixels; a style sheet shows the one that fits."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart. `rows` are its data, under `header`, as they go into the CSV."""

    title: str
    summary: str
    """What the chart says, for those who do not see it."""
    header: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    wide: Markup
    narrow: Markup

    def csv(self) -> str:
        """The data, one line a row. A cell that a spreadsheet would run as a formula is preceded by an apostrophe."""
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows([[_cell(value) for value in row] for row in self.rows])
        return written.getvalue()


def figure(
    title: str,
    summary: str,
    header: tuple[str, ...],
    rows: Sequence[tuple[Any, ...]],
    draw: Callable[[int], Markup],
) -> Figure:
    """A chart that `draw` draws to a width."""
    return Figure(title, summary, header, rows, draw(WIDE), draw(NARROW))


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    dangerous = isinstance(value, str) and text.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{text}" if dangerous else text
