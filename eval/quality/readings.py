"""How well tasks are read: labelled operation chains and families of freshly worded tasks, without relevance grades."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.memory.task import read_task
from eval.quality.rankings import Embed

FOLDER = Path(__file__).parent / "data"
BATCHES = (
    "readings_first",
    "readings_second",
    "readings_third",
    "readings_fourth",
    "readings_fifth",
    "readings_sixth",
    "readings_seventh",
    "readings_eighth",
    "readings_ninth",
    "readings_tenth",
    "readings_eleventh",
    "readings_twelfth",
    "readings_thirteenth",
    "readings_fourteenth",
    "readings_texts",
)


@dataclass(frozen=True, slots=True)
class Reading:
    """Shares over one batch and wording: exact chains, right family, right first operation, and mean F1."""

    batch: str
    wording: str
    tasks: int
    exact: float
    family: float
    first: float
    f1: float


def measure_readings(embed: Embed | None) -> list[Reading]:
    """Read every labelled task of every batch present."""
    found = []
    for batch in BATCHES:
        path = FOLDER / f"{batch}.jsonl"
        if path.exists():
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            found += [
                _measure(batch, w, [r for r in rows if r["wording"] == w], embed)
                for w in sorted({r["wording"] for r in rows})
            ]
    return found


def _measure(batch: str, wording: str, rows: Sequence[dict[str, object]], embed: Embed | None) -> Reading:
    exact = family = first = 0
    f1 = 0.0
    for row in rows:
        wanted = [str(name) for name in row["ops"]]  # type: ignore[attr-defined]
        profile = read_task(str(row["text"]), None, embed=embed)
        shared = sum((Counter(wanted) & Counter(profile.chain)).values())
        exact += tuple(wanted) == profile.chain
        family += row["family"] == profile.family
        first += wanted[0] in profile.chain
        f1 += 2 * shared / max(len(wanted) + len(profile.chain), 1)
    n = len(rows)
    return Reading(batch, wording, n, exact / n, family / n, first / n, f1 / n)
