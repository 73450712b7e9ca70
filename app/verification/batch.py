"""Many runs on one or several GPUs: loading, compiling and comparing side by side, timing one at a time on each."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from app.verification.candidate import Candidate
from app.verification.judge import verify_in
from app.verification.problem import Problem
from app.verification.protocol import Limits
from app.verification.record import RunRecord
from app.verification.session import Session
from app.verification.watch import Watch
from app.vocabulary import Verdict

MAX_WORKERS = 8
"""Runs side by side on one GPU at the most: more do not fit in its memory."""

_CORES_PER_WORKER = 2
RETRIED_ALONE = (Verdict.OUT_OF_MEMORY, Verdict.INFRA_ERROR, Verdict.TIMEOUT, Verdict.PROFILER_FAULT)
"""Verdicts that neighbours may have caused: such a run is repeated alone on its GPU, and the second verdict counts."""


@dataclass(frozen=True)
class Job:
    """One run to make. `limits` replaces the session's where a job needs others."""

    problem: Problem
    candidate: Candidate
    limits: Limits | None = None


def side_by_side(devices: int = 1) -> int:
    """Runs that each of so many devices of this host should have under way at once."""
    return max(1, min(MAX_WORKERS, (os.cpu_count() or 2) // _CORES_PER_WORKER // max(1, devices)))


class _Work:
    """What is left to do, shared by all devices. Runs of one problem go to one device, which loads it once.

    Groups come by falling level of their problem: whole networks compile longest, and none should be alone at the end.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        on_record: Callable[[int, RunRecord], None] | None,
        on_phase: Callable[[int, str], None] | None,
    ) -> None:
        self.jobs = jobs
        self.records: dict[int, RunRecord] = {}
        self._on_record, self._on_phase = on_record, on_phase
        self._lock = threading.Lock()
        groups: dict[str, list[int]] = {}
        for index in sorted(range(len(jobs)), key=lambda index: -(jobs[index].problem.level or 0)):
            groups.setdefault(jobs[index].problem.sha256, []).append(index)
        self._groups = deque(groups.values())

    def next_group(self) -> list[int]:
        """The next problem's runs; empty when there is none left."""
        with self._lock:
            return self._groups.popleft() if self._groups else []

    def keep(self, index: int, record: RunRecord) -> None:
        """Notes a record and tells of it."""
        self.records[index] = record
        if self._on_record is not None:
            self._on_record(index, record)

    def tell(self, index: int, phase: str) -> None:
        """Tells that a run enters a phase."""
        if self._on_phase is not None:
            self._on_phase(index, phase)


@dataclass
class _Lane:
    """One device at work: it takes group after group, and several of its runs are under way at once."""

    session: Session
    work: _Work
    count: int
    _waiting: deque[int] = field(default_factory=deque)
    _mine: list[int] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        """Works until nothing is left, then repeats alone what neighbours may have hurt."""
        self.session.is_alone = self.count == 1
        try:
            with ThreadPoolExecutor(self.count) as threads:
                for done in [threads.submit(self._serve) for _ in range(self.count)]:
                    done.result()
            if self.session.gpu is not None and self.count > 1:
                self.session.is_alone = True
                for index in [i for i in sorted(self._mine) if self.work.records[i].verdict in RETRIED_ALONE]:
                    self.session.pool.expect(self.work.jobs[index].problem)
                    self._judge(index)
        finally:
            self.session.pool.close()

    def _serve(self) -> None:
        while (index := self._take()) is not None:
            self._judge(index)

    def _take(self) -> int | None:
        with self._lock:
            if not self._waiting:
                group = self.work.next_group()
                for index in group:
                    self.session.pool.expect(self.work.jobs[index].problem)
                self._waiting.extend(group)
                self._mine.extend(group)
            return self._waiting.popleft() if self._waiting else None

    def _judge(self, index: int) -> None:
        job = self.work.jobs[index]
        limits = job.limits or self.session.limits
        watch = Watch(lambda phase: self.work.tell(index, phase))
        record = verify_in(self.session, job.problem, job.candidate, limits, watch)
        self.work.keep(index, record)


def verify_many(
    jobs: Iterable[Job],
    device: str | Sequence[str] = "cuda:0",
    limits: Limits | None = None,
    *,
    workers: int | None = None,
    on_record: Callable[[int, RunRecord], None] | None = None,
    on_phase: Callable[[int, str], None] | None = None,
    cancelled: threading.Event | None = None,
) -> list[RunRecord]:
    """Judge all jobs; the records come in the order of the jobs, `on_record` is told of each as it is done and
    `on_phase` of each phase that a run enters, both by the thread that judges.

    Several devices share the work; each times one run at a time. `workers` counts runs side by side on each of them.
    Once `cancelled` is set, runs that have not begun end as `cancelled`; those under way are finished.

    Raises InvalidInput for a device that makes no sense.
    """
    listed = list(jobs)
    devices = [device] if isinstance(device, str) else list(device)
    work = _Work(listed, on_record, on_phase)
    count = workers or side_by_side(len(devices))
    lanes = [_Lane(Session.open(name, limits), work, count) for name in devices]
    for lane in lanes:
        lane.session.cancelled = cancelled or lane.session.cancelled
    with ThreadPoolExecutor(max(1, len(lanes))) as threads:
        for done in [threads.submit(lane.run) for lane in lanes]:
            done.result()
    return [work.records[index] for index in range(len(listed))]
