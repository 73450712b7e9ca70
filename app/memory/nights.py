"""What the runs of a night come to: quarantine, doubts, and the summary. Pure rules over plan and runs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.records import Run
from app.standing import Grade, bound, grade, is_worse
from app.vocabulary import Verdict

ON_DEVICE = ("build", "correctness", "timing")
"""Phases in which a run holds the device; loading and compiling need the host alone."""

EVERYTHING = "*"
"""In place of a problem: all problems of some hardware, where the evaluator itself is in doubt."""

Place = tuple[str, str]
"""(hardware, item id or problem)."""


def quarantined(runs: Iterable[Run], complaints_of: Any) -> dict[Place, list[str]]:
    """(hardware, problem) -> what speaks against judging its kernels this night.

    `complaints_of` is the evaluator's rule for the two controls of a problem.
    """
    found: dict[Place, list[str]] = defaultdict(list)
    pairs: dict[Place, dict[str, Run]] = defaultdict(dict)
    for run in runs:
        if run.control is None:
            continue
        if run.problem is not None:
            pairs[run.hardware, run.problem][run.control] = run
        elif _verdict(run).is_success:
            found[run.hardware, EVERYTHING].append(f"the evaluator let {run.control} pass")
    for place, pair in pairs.items():
        reference, zeros = pair.get("reference"), pair.get("zeros")
        if reference is None or zeros is None:
            found[place].append("a control was not run")
            continue
        ratio = None if reference.speedup is None else float(reference.speedup)
        found[place] += complaints_of(_verdict(reference), ratio, _verdict(zeros))
    return {place: complaints for place, complaints in found.items() if complaints}


def is_quarantined(place: Place, quarantine: Mapping[Place, Sequence[str]]) -> bool:
    """Whether the kernels of (hardware, problem) keep their last verdict this night."""
    return place in quarantine or (place[0], EVERYTHING) in quarantine


def noise_of(runs: Iterable[Run]) -> dict[Place, float]:
    """(hardware, problem) -> how far the reference's race against itself was from 1, its bounds included."""
    noise = {}
    for run in runs:
        if run.control == "reference" and run.problem is not None and run.speedup is not None:
            far = max(abs(bound(run, "hi") - 1), abs(bound(run, "lo") - 1), abs(float(run.speedup) - 1))
            noise[run.hardware, run.problem] = far
    return noise


def doubtful(plan: Mapping[str, Any], runs: Sequence[Run], before: Mapping[str, Run]) -> list[Place]:
    """(hardware, item id) of kernels whose run is worse than what counted, or a first failure: to be judged again."""
    noise = noise_of(runs)
    found = []
    for hardware, chosen in plan["due"].items():
        for entry in chosen:
            told = _telling(runs, hardware, entry["item_id"])
            if not told:
                continue
            known = plan["before"][hardware].get(entry["item_id"])
            earlier = before.get(known["run"]) if known else None
            is_new_failure = known is None and grade(told[-1]) is not Grade.GOOD
            if is_new_failure or is_worse(earlier, told[-1], noise.get((hardware, entry["problem"]), 0.0)):
                found.append((hardware, entry["item_id"]))
    return found


def summary_of(
    plan: Mapping[str, Any],
    runs: Sequence[Run],
    before: Mapping[str, Run],
    demoted: Mapping[str, Iterable[str]],
    complaints_of: Any,
) -> dict[str, Any]:
    """The outcome of a night: lists of kernels with their figures, faults of the infrastructure, device minutes.

    `demoted` maps item ids to the hardware on which they are demoted at the end of the night.
    """
    quarantine = quarantined(runs, complaints_of)
    noise = noise_of(runs)
    lists = _listed(plan, runs, before, demoted, quarantine, noise)
    faults = [run for run in runs if run.verdict is not None and _verdict(run).is_infrastructure]
    return {
        **lists,
        "quarantined": [
            {"hardware": hardware, "problem": problem, "complaints": complaints}
            for (hardware, problem), complaints in sorted(quarantine.items())
        ],
        "infrastructure": [_fault(run) for run in faults],
        "noise": [{"hardware": h, "problem": p, "noise": round(far, 4)} for (h, p), far in sorted(noise.items())],
        "device_minutes": {hardware: _device_minutes(runs, hardware) for hardware in plan["due"]},
        "counts": {
            **{name: len(entries) for name, entries in lists.items()},
            "quarantined": len(quarantine),
            "infrastructure": len(faults),
            "controls": sum(run.control is not None for run in runs),
            "runs": len(runs),
        },
    }


def _listed(
    plan: Mapping[str, Any],
    runs: Sequence[Run],
    before: Mapping[str, Run],
    demoted: Mapping[str, Iterable[str]],
    quarantine: Mapping[Place, Sequence[str]],
    noise: Mapping[Place, float],
) -> dict[str, list[dict[str, Any]]]:
    """The kernels of a summary by what became of them."""
    lists: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("verified", "new", "regressed", "recovered", "doubtful", "failed", "unjudged")
    }
    for hardware, chosen in plan["due"].items():
        for entry in chosen:
            item_id, problem = entry["item_id"], entry["problem"]
            if is_quarantined((hardware, problem), quarantine):
                continue
            told = _telling(runs, hardware, item_id)
            known = plan["before"][hardware].get(item_id)
            line = _line(entry, hardware, known, told)
            earlier = before.get(known["run"]) if known else None
            is_demoted = hardware in demoted.get(item_id, ())
            for name in _kinds(told, known, earlier, is_demoted, noise.get((hardware, problem), 0.0)):
                lists[name].append(line)
    return lists


def _kinds(
    told: Sequence[Run], known: Mapping[str, Any] | None, earlier: Run | None, is_demoted: bool, noise: float
) -> list[str]:
    """The lists of a summary that a kernel belongs to."""
    if not told:
        return ["unjudged"]
    last = told[-1]
    kinds = ["new"] if known is None else []
    worse = [is_worse(earlier, run, noise) for run in told]
    if known is not None and known["is_demoted"] and not is_demoted:
        kinds.append("recovered")
    elif known is not None and ((is_demoted and not known["is_demoted"]) or (len(worse) > 1 and all(worse[-2:]))):
        kinds.append("regressed")
    elif worse[-1]:
        kinds.append("doubtful")
    return [*kinds, "verified" if _verdict(last).is_success else "failed"]


def _line(
    entry: Mapping[str, Any], hardware: str, known: Mapping[str, Any] | None, told: Sequence[Run]
) -> dict[str, Any]:
    last = told[-1] if told else None
    return {
        "item_id": entry["item_id"],
        "problem": entry["problem"],
        "hardware": hardware,
        "reason": entry["reason"],
        "run": last.id if last else None,
        "verdict": last.verdict if last else None,
        "speedup": None if last is None or last.speedup is None else float(last.speedup),
        "before": None if known is None else {"verdict": known["verdict"], "speedup": known["speedup"]},
    }


def _telling(runs: Iterable[Run], hardware: str, item_id: str) -> list[Run]:
    return [
        run
        for run in runs
        if run.item_id == item_id
        and run.hardware == hardware
        and run.verdict is not None
        and not _verdict(run).is_infrastructure
    ]


def _fault(run: Run) -> dict[str, Any]:
    detail = (run.figures or {}).get("detail") or ""
    about = run.item_id or f"{run.control}{f' of {run.problem}' if run.problem else ''}"
    return {"run": run.id, "about": about, "hardware": run.hardware, "verdict": run.verdict, "detail": detail[:300]}


def _device_minutes(runs: Iterable[Run], hardware: str) -> float:
    phases = [(run.figures or {}).get("phases") or {} for run in runs if run.hardware == hardware]
    seconds = sum(float(spent) for kept in phases for name, spent in kept.items() if name in ON_DEVICE)
    return round(seconds / 60, 3)


def _verdict(run: Run) -> Verdict:
    return Verdict(run.verdict or Verdict.CANCELLED)
