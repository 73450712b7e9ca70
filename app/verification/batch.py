"""Many runs on one device: loading, compiling and comparing side by side, timing one at a time."""

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from app.verification.candidate import Candidate
from app.verification.judge import verify_in
from app.verification.problem import Problem
from app.verification.protocol import Limits
from app.verification.record import RunRecord
from app.verification.session import Session
from app.vocabulary import Verdict

MAX_WORKERS = 8
"""Runs side by side at the most: more do not fit in the memory of one GPU."""

_CORES_PER_WORKER = 2
_RETRIED_ALONE = (Verdict.OUT_OF_MEMORY, Verdict.INFRA_ERROR, Verdict.TIMEOUT, Verdict.PROFILER_FAULT)
"""Verdicts that neighbours may have caused: such a run is repeated alone on the GPU, and the second verdict counts."""


@dataclass(frozen=True)
class Job:
    """One run to make. `limits` replaces the session's where a job needs others."""

    problem: Problem
    candidate: Candidate
    limits: Limits | None = None


def _longest_first(jobs: list[Job]) -> list[int]:
    """Indices by falling level of the problem: whole networks compile longest, and none should be alone at the end."""
    return sorted(range(len(jobs)), key=lambda index: -(jobs[index].problem.level or 0))


def verify_many(
    jobs: Iterable[Job],
    device: str = "cuda:0",
    limits: Limits | None = None,
    *,
    workers: int | None = None,
    on_record: Callable[[int, RunRecord], None] | None = None,
    cancelled: threading.Event | None = None,
) -> list[RunRecord]:
    """Judge all jobs; the records come in the order of the jobs, `on_record` is told of each as it is done.

    Once `cancelled` is set, runs that have not begun end as `cancelled`; those under way are finished.

    Raises InvalidInput for a device that makes no sense.
    """
    listed = list(jobs)
    session = Session.open(device, limits)
    session.cancelled = cancelled or session.cancelled
    for job in listed:
        session.pool.expect(job.problem)
    count = workers or max(1, min(MAX_WORKERS, (os.cpu_count() or 2) // _CORES_PER_WORKER))
    session.is_alone = count == 1
    records: dict[int, RunRecord] = {}

    def one(index: int) -> None:
        job = listed[index]
        records[index] = verify_in(session, job.problem, job.candidate, job.limits or session.limits)
        if on_record is not None:
            on_record(index, records[index])

    try:
        with ThreadPoolExecutor(count) as workers_pool:
            list(workers_pool.map(one, _longest_first(listed)))
        if session.gpu is not None and count > 1:
            session.is_alone = True
            for index in [i for i, record in sorted(records.items()) if record.verdict in _RETRIED_ALONE]:
                session.pool.expect(listed[index].problem)
                one(index)
    finally:
        session.pool.close()
    return [records[index] for index in range(len(listed))]
