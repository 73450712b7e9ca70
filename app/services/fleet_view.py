"""Who could judge a kernel now: workers that live, kinds of hardware, orders that wait."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.records import Worker
from app.services.work_orders import INTERPRETER, living_workers
from app.store import overview, runs
from app.store.database import Database
from app.vocabulary import RunState


@dataclass(frozen=True, slots=True)
class Fleet:
    """The workers, as somebody who orders a run needs to know them."""

    workers: Sequence[Worker]
    hardware: Sequence[str]
    """Kinds that a run can be ordered for: those of living workers first, then those that were seen before."""
    waiting: int
    """Orders that nobody has begun."""

    @property
    def living(self) -> frozenset[str]:
        """Kinds that a living worker has."""
        return frozenset(worker.hardware for worker in self.workers)


def fleet(database: Database) -> Fleet:
    """Workers, hardware and waiting orders as they are now."""
    workers = living_workers(database)
    with database.read() as session:
        counts = runs.counts(session)
        seen = overview.hardware_of_runs(session)
    living = sorted({worker.hardware for worker in workers})
    known = dict.fromkeys([*living, *seen, INTERPRETER])
    waiting = sum(number for (_, state), number in counts.items() if state == RunState.QUEUED)
    return Fleet(workers, list(known), waiting)
