"""One run from its message to its verdict: claim, beat, judge, finish. Nothing here blames a kernel for its worker."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from app.errors import DatabaseUnavailable, PlaybookError
from app.records import Run
from app.services import work_orders
from app.store import work_orders as guard
from app.store.database import Database
from app.store.work_orders import Outcome
from app.verification.watch import Watch
from app.vocabulary import Verdict
from app.worker.judging import Judge

log = logging.getLogger(__name__)

T = TypeVar("T")
_PATIENCE_S = (0.2, 0.5, 1.0, 2.0, 5.0)
"""Pauses while the database does not answer; the last one repeats."""


class Duty:
    """What a worker does for each message. Safe for several threads."""

    def __init__(self, database: Database, judge: Judge, name: str) -> None:
        self._database = database
        self._judge = judge
        self._name = name
        self._leaving = threading.Event()
        self._watches: dict[str, Watch] = {}
        self._lock = threading.Lock()

    @property
    def is_idle(self) -> bool:
        """Whether no run is under way."""
        return not self._watches

    def perform(self, run_id: str) -> None:
        """Judges a run, if it is still to be judged and nobody else does."""
        run = self._insist(lambda: self._claimed(run_id))
        if run is None:
            return
        watch = Watch()
        with self._lock:
            self._watches[run.id] = watch
        try:
            with self._beating(run, watch):
                outcome = self._judged(run, watch)
                if watch.is_stopped:
                    self._insist(lambda: self._put_back(run))
                elif not self._insist(lambda: work_orders.keep_verdict(self._database, run, outcome)):
                    log.warning("run %s: the verdict of attempt %d came too late", run.id, run.attempts)
        finally:
            with self._lock:
                del self._watches[run.id]

    def give_back(self) -> None:
        """Ends what is under way and puts it back in the queue; a run that begins after this ends at once, too."""
        self._leaving.set()
        with self._lock:
            for watch in self._watches.values():
                watch.stop()

    def _claimed(self, run_id: str) -> Run | None:
        if self._leaving.is_set():
            return None
        with self._database.write() as session:
            return guard.claim(session, run_id, self._name)

    def _judged(self, run: Run, watch: Watch) -> Outcome:
        try:
            return self._judge.judge(run, watch)
        except DatabaseUnavailable:
            watch.stop()
            return _not_judged(self._judge, "the database did not answer")
        except PlaybookError as fault:
            return _not_judged(self._judge, fault.detail)

    def _put_back(self, run: Run) -> bool:
        with self._database.write() as session:
            return guard.release(session, run.id, run.attempts)

    @contextmanager
    def _beating(self, run: Run, watch: Watch) -> Iterator[None]:
        """Heartbeats while the run is under way; one that changes no row ends the run's processes."""
        over = threading.Event()

        def beat() -> None:
            while not over.wait(self._database.settings.heartbeat_s):
                try:
                    with self._database.write() as session:
                        ours = guard.beat(session, run.id, run.attempts, watch.phase)
                except DatabaseUnavailable as fault:
                    log.warning("run %s: no heartbeat, %s", run.id, fault.detail)
                    continue
                if not ours:
                    log.warning("run %s is no longer attempt %d's; it ends here", run.id, run.attempts)
                    watch.stop()
                    return

        thread = threading.Thread(target=beat, name=f"beat {run.id}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def _insist(self, step: Callable[[], T]) -> T | None:
        """Takes a step as soon as the database lets it; None where the worker leaves before that."""
        for pause in _forever(_PATIENCE_S):
            try:
                return step()
            except DatabaseUnavailable as fault:
                log.warning("%s", fault.detail)
                if self._leaving.is_set():
                    return None
                self._leaving.wait(pause)
        return None


def _forever(pauses: tuple[float, ...]) -> Iterator[float]:
    yield from pauses
    while True:
        yield pauses[-1]


def _not_judged(judge: Judge, detail: str) -> Outcome:
    return Outcome(Verdict.INFRA_ERROR.value, None, guard.unmeasured(detail), {"evaluator": judge.evaluator})
