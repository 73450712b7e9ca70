"""What a night is to do: the kernels that are due on each kind of hardware, and the controls that come before them."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.memory.due import due
from app.records import Item, Problem, Run
from app.services.ordered import KNOWN_BAD, REFERENCE, ZEROS
from app.services.verifying import problem_file
from app.services.work_orders import INTERPRETER
from app.standing import bound, counting
from app.store import corpus, runs
from app.store.database import Session
from app.verification.controls import known_bad
from app.vocabulary import KernelLanguage, OrderReason, RunState


def plan_of(
    session: Session,
    evaluators: Mapping[str, str],
    folders: Sequence[Path],
    limit: int,
    only: Collection[str] | None = None,
) -> dict[str, Any]:
    """The plan of a night. `evaluators` maps each kind of hardware to the evaluator's version there; `only` narrows
    it to some kernels.

    It holds `evaluators`; `due` (hardware -> kernels with problem and reason); `before` (hardware -> kernel -> what
    counted of it until now); and `not_judged` (kernels that cannot be judged, and why).
    """
    kernels = [item for item in corpus.items_since(session, -1) if item.kernel is not None and item.shown]
    kernels = [item for item in kernels if only is None or item.id in only]
    known = corpus.facts(session).problems
    at_hand = {item.id: problem_file(known.get(item.source_problem or ""), folders) is not None for item in kernels}
    plan: dict[str, Any] = {"evaluators": dict(evaluators), "due": {}, "before": {}, "not_judged": []}
    for item in kernels:
        if not at_hand[item.id]:
            plan["not_judged"].append({"item_id": item.id, "why": _why_not(item, known)})
    for hardware, evaluator in sorted(evaluators.items()):
        fit = [item for item in kernels if at_hand[item.id] and _fits(item, hardware)]
        plan["not_judged"] += [
            {"item_id": item.id, "why": f"CUDA C++ cannot run on {hardware}"}
            for item in kernels
            if at_hand[item.id] and not _fits(item, hardware)
        ]
        histories = histories_on(session, hardware)
        chosen = due(fit, histories, runs.judged_on(session, hardware), evaluator, limit)
        by_id = {item.id: item for item in fit}
        plan["due"][hardware] = [
            {"item_id": d.item_id, "problem": by_id[d.item_id].source_problem, "reason": d.reason.value} for d in chosen
        ]
        plan["before"][hardware] = {
            d.item_id: _before(by_id[d.item_id], hardware, histories[d.item_id])
            for d in chosen
            if d.item_id in histories
        }
    return plan


def controls_of(plan: Mapping[str, Any], night: str, actor: str) -> list[Run]:
    """Orders for the controls of a plan: known-bad candidates on each hardware, both controls of each problem."""
    orders = []
    for hardware, chosen in plan["due"].items():
        if not chosen:
            continue
        orders += [_control(f"{KNOWN_BAD}{name}", None, hardware, night, actor) for name in known_bad()]
        for problem in sorted({entry["problem"] for entry in chosen}):
            orders += [_control(name, problem, hardware, night, actor) for name in (REFERENCE, ZEROS)]
    return orders


def histories_on(session: Session, hardware: str) -> dict[str, list[Run]]:
    """Kernel -> the runs that tell of its present code on some hardware, oldest first."""
    histories: dict[str, list[Run]] = {}
    for run in runs.telling(session, hardware=hardware):
        histories.setdefault(run.item_id or "", []).append(run)
    return histories


def _fits(item: Item, hardware: str) -> bool:
    return hardware != INTERPRETER or item.kernel is None or item.kernel.language is not KernelLanguage.CUDA


def _why_not(item: Item, known: Mapping[str, Problem]) -> str:
    if not item.source_problem:
        return "it names no problem"
    if item.source_problem not in known:
        return f"nothing is known of its problem {item.source_problem}"
    return f"the file of its problem {item.source_problem} is not at hand, or is not the one that is known"


def _before(item: Item, hardware: str, history: Sequence[Run]) -> dict[str, Any]:
    run = counting(history, is_demoted=hardware in (item.demotions or {}))
    return {
        "run": run.id,
        "verdict": run.verdict,
        "speedup": None if run.speedup is None else float(run.speedup),
        "lower": bound(run, "lo") if run.speedup is not None else None,
        "is_demoted": hardware in (item.demotions or {}),
    }


def _control(name: str, problem: str | None, hardware: str, night: str, actor: str) -> Run:
    return Run(
        id=f"run-{uuid.uuid4().hex}",
        item_id=None,
        state=RunState.QUEUED.value,
        hardware=hardware,
        reason=OrderReason.CONTROL.value,
        actor=actor,
        night=night,
        control=name,
        problem=problem,
    )
