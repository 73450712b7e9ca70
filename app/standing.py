"""What verification runs make of a kernel on one kind of hardware: pure rules over its history there.

A history holds the runs that say something of the kernel as it is now (`app.store.runs.telling`), oldest first. One bad
run may be bad luck, so nothing is taken away from a kernel before two runs in a row, by one evaluator, agree.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import IntEnum
from typing import Any

from app.records import Run
from app.vocabulary import Verdict

SLACK = 0.05
"""Share by which two runs of one kernel on one kind of hardware may differ and still be the same."""


class Grade(IntEnum):
    """What a run says of a kernel, from worst to best."""

    FAILED = 0
    SLOWER = 1
    GOOD = 2


def grade(run: Run) -> Grade:
    """Failed, correct but slower than eager, or good (also where nothing was timed)."""
    if run.verdict == Verdict.VERIFIED:
        return Grade.GOOD
    return Grade.SLOWER if run.verdict == Verdict.VERIFIED_SLOWER else Grade.FAILED


def counting(history: Sequence[Run], *, is_demoted: bool) -> Run:
    """The run that readers are told of: the latest, unless it is worse than what counted and not confirmed yet.

    The first run ever counts at once: there is no standing that it could take away.
    """
    counted = history[0]
    for run in history[1:]:
        if is_demoted or grade(run) >= grade(counted):
            counted = run
    return counted


def agree(earlier: Run, later: Run) -> bool:
    """Whether the second run confirms what the first one found."""
    return grade(earlier) == grade(later) and earlier.evaluator == later.evaluator


def demotion(history: Sequence[Run], claimed: Decimal | None) -> dict[str, Any] | None:
    """Why the kernel is to be demoted, as its item keeps it, where its last two runs agree on something worse.

    A kernel that never was, nor claims to be, faster than eager loses nothing by being slower.
    """
    if len(history) < 2:
        return None
    earlier, last = history[-2:]
    found = grade(last)
    if found is Grade.GOOD or not agree(earlier, last):
        return None
    was_good = any(grade(run) is Grade.GOOD for run in history)
    if found is Grade.SLOWER and not was_good and (claimed is None or claimed <= 1):
        return None
    return {
        "verdict": last.verdict,
        "speedup": None if last.speedup is None else format(last.speedup, "f"),
        "runs": [earlier.id, last.id],
        "evaluator": last.evaluator,
        "since": None if last.finished_at is None else last.finished_at.isoformat(timespec="seconds"),
    }


def is_restored(history: Sequence[Run]) -> bool:
    """Whether the latest run takes a demotion back."""
    return bool(history) and grade(history[-1]) is Grade.GOOD


def is_worse(before: Run | None, run: Run, noise: float = 0.0) -> bool:
    """Whether a run is worse than what counted before: in grade, or by more than noise in a figure of one evaluator."""
    if before is None:
        return False
    if grade(run) != grade(before):
        return grade(run) < grade(before)
    if run.speedup is None or before.speedup is None or run.evaluator != before.evaluator:
        return False
    return float(run.speedup) < float(before.speedup) * (1 - max(SLACK, noise)) and bound(run, "hi") < bound(
        before, "lo"
    )


def bound(run: Run, side: str) -> float:
    """The upper (`hi`) or lower (`lo`) bound of a run's speedup; the speedup itself where none was kept."""
    figures: Mapping[str, Any] = (run.figures or {}).get("figures") or {}
    return float(figures.get(f"speedup_{side}95") or run.speedup or 0.0)
