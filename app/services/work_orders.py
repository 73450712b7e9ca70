"""Orders for verification runs: placed here, carried out by workers, swept when a worker falls silent."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import timedelta

from app.errors import InvalidInput, NoWorker, UnknownItem
from app.records import Item, Run, Worker
from app.services.queue import Queue
from app.services.settling import settle
from app.store import clock, corpus, items, work_orders, workers
from app.store.database import Database, Session
from app.store.work_orders import Outcome
from app.vocabulary import OrderReason, RunState

INTERPRETER = "cpu-interpreter"
"""Hardware name of runs without a GPU; they carry no figures."""


def order(
    database: Database,
    queue: Queue,
    item_ids: Sequence[str],
    hardware: Sequence[str] = (),
    *,
    actor: str,
) -> list[Run]:
    """Orders a run of each kernel on each kind of hardware; one that waits already is not ordered twice.

    Without `hardware`, on every kind that a living worker has; NoWorker where there is none.
    """
    with database.write() as session:
        kinds = list(dict.fromkeys(hardware)) or sorted({worker.hardware for worker in _living(session, database)})
        if not kinds:
            raise NoWorker("No worker lives. Start `playbook worker`, or name the hardware to wait for.")
        placed = [_placed(session, _kernel(session, item_id), kind, actor) for item_id in item_ids for kind in kinds]
    offer(queue, placed)
    return placed


def new_order(
    item: Item, hardware: str, reason: OrderReason, *, actor: str | None = None, night: str | None = None
) -> Run:
    """An order for a kernel, not written yet."""
    if item.kernel is None:
        raise InvalidInput(f"{item.id} is a {item.kind} and has no code to verify.")
    return Run(
        id=f"run-{uuid.uuid4().hex}",
        item_id=item.id,
        state=RunState.QUEUED.value,
        hardware=hardware,
        reason=reason.value,
        actor=actor,
        night=night,
        content_hash=item.kernel.content_hash,
    )


def offer(queue: Queue, orders: Iterable[Run]) -> None:
    """Tells workers of orders that are committed."""
    by_hardware: dict[str, list[str]] = {}
    for entry in orders:
        if entry.state == RunState.QUEUED:
            by_hardware.setdefault(entry.hardware, []).append(entry.id)
    for hardware, run_ids in by_hardware.items():
        queue.offer(hardware, run_ids)


def sweep(database: Database, queue: Queue) -> work_orders.Swept:
    """Requeues what silent workers left, and offers every waiting order whose queue is empty once more."""
    settings = database.settings
    with database.write() as session:
        silent_before = clock.now(session) - timedelta(seconds=settings.worker_silence_s)
        swept = work_orders.sweep(session, silent_before, settings.run_attempts)
        waiting = work_orders.queued(session)
        if swept.given_up:
            corpus.advance(session, facts=True)
    for hardware in sorted({kind for _, kind in waiting}):
        if queue.waiting(hardware) == 0:
            queue.offer(hardware, [run_id for run_id, kind in waiting if kind == hardware])
    return swept


def keep_verdict(database: Database, run: Run, outcome: Outcome) -> bool:
    """Finishes a claimed run with what it found, and settles its kernel's standing; False where the claim is void."""
    with database.write() as session:
        corpus.lock(session)
        if not work_orders.finish(session, run.id, run.attempts, outcome):
            return False
        if run.item_id is not None:
            settle(session, run.item_id, run.hardware)
        corpus.advance(session, facts=True)
    return True


def living_workers(database: Database) -> list[Worker]:
    """Workers whose heartbeat is fresh."""
    with database.read() as session:
        return _living(session, database)


def _living(session: Session, database: Database) -> list[Worker]:
    return workers.living(session, clock.now(session) - timedelta(seconds=database.settings.worker_silence_s))


def _kernel(session: Session, item_id: str) -> Item:
    item = items.get(session, item_id)
    if item is None:
        raise UnknownItem(f"There is no item {item_id!r}.")
    return item


def _placed(session: Session, item: Item, hardware: str, actor: str) -> Run:
    waiting = work_orders.waiting_for(session, item.id, hardware)
    if waiting is not None:
        return waiting
    placed = new_order(item, hardware, OrderReason.REQUEST, actor=actor)
    return work_orders.add(session, [placed])[0]
