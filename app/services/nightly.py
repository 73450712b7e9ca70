"""The nightly job as steps that any number of schedulers may try: whoever moves the night's state on has done the step.

A night goes through controls, kernels and confirmation; each state ends when all runs ordered so far are finished.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from app.memory.nights import doubtful, is_quarantined, quarantined, summary_of
from app.records import Night, Run
from app.services.nights import get_night
from app.services.planning import controls_of, plan_of
from app.services.queue import Queue
from app.services.work_orders import new_order, offer
from app.store import clock, corpus, items, nights, runs, work_orders
from app.store.database import Database, Session
from app.verification.controls import complaints_of
from app.vocabulary import NightState, OrderReason, RunState

_NEXT = {
    NightState.CONTROLS: NightState.KERNELS,
    NightState.KERNELS: NightState.CONFIRMING,
    NightState.CONFIRMING: NightState.CLOSED,
}


def begin(
    database: Database,
    queue: Queue,
    date: str,
    evaluators: Mapping[str, str],
    actor: str,
    only: Sequence[str] | None = None,
) -> bool:
    """Opens the night of a date and orders its controls; False where somebody did so before.

    `evaluators` maps each kind of hardware to the evaluator's version there; `only` narrows the night to some kernels.
    """
    settings = database.settings
    with database.write() as session:
        corpus.lock(session)
        if nights.get(session, date) is not None:
            return False
        plan = plan_of(session, evaluators, settings.problem_folders, settings.night_limit, only)
        if not nights.begin(session, date, actor, sorted(evaluators), plan):
            return False
        placed = work_orders.add(session, controls_of(plan, date, actor))
    offer(queue, placed)
    return True


def step(database: Database, queue: Queue, date: str) -> Night:
    """Takes the night as far as its finished runs allow; the night as it stands then.

    What is over its time is closed: orders that nobody began end as cancelled.
    """
    with database.write() as session:
        corpus.lock(session)
        night = nights.get(session, date)
        placed: list[Run] = []
        if night is not None and night.state != NightState.CLOSED:
            ends = night.opened_at + timedelta(hours=database.settings.night_hours)
            if clock.now(session) > ends:
                work_orders.cancel_queued(session, date, "the night was over")
            told = runs.of_night(session, date)
            if all(run.state == RunState.FINISHED for run in told):
                placed = _advanced(session, night, told)
    offer(queue, placed)
    return get_night(database, date)


def _advanced(session: Session, night: Night, told: Sequence[Run]) -> list[Run]:
    """Moves a night on whose runs are all finished; the orders of its next state."""
    state = NightState(night.state)
    if not nights.move_on(session, night.date, state, _NEXT[state]):
        return []
    if state is NightState.CONTROLS:
        return work_orders.add(session, _kernels(session, night, told))
    if state is NightState.KERNELS:
        return work_orders.add(session, _confirmations(session, night, told))
    demoted = {item.id: list(item.demotions) for item in corpus.items_since(session, -1) if item.demotions}
    summary = summary_of(night.plan, told, _earlier(session, night), demoted, complaints_of)
    nights.close(session, night.date, summary)
    return []


def _kernels(session: Session, night: Night, told: Sequence[Run]) -> list[Run]:
    """Orders for the kernels that are due and whose problem passed its controls."""
    quarantine = quarantined(told, complaints_of)
    orders = []
    for hardware, chosen in night.plan["due"].items():
        for entry in chosen:
            item = items.get(session, entry["item_id"])
            if item is None or item.kernel is None or is_quarantined((hardware, entry["problem"]), quarantine):
                continue
            reason = OrderReason(entry["reason"])
            orders.append(new_order(item, hardware, reason, actor=night.opened_by, night=night.date))
    return orders


def _confirmations(session: Session, night: Night, told: Sequence[Run]) -> list[Run]:
    """A second run for each kernel that looked worse than before: one alone takes nothing away."""
    orders = []
    for hardware, item_id in doubtful(night.plan, told, _earlier(session, night)):
        item = items.get(session, item_id)
        if item is not None and item.kernel is not None:
            reason = OrderReason.CONFIRMATION
            orders.append(new_order(item, hardware, reason, actor=night.opened_by, night=night.date))
    return orders


def _earlier(session: Session, night: Night) -> dict[str, Run]:
    """The runs that counted before the night, by id."""
    known = [entry["run"] for told in night.plan["before"].values() for entry in told.values()]
    found = [runs.get(session, run_id) for run_id in known]
    return {run.id: run for run in found if run is not None}
