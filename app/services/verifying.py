"""Has kernels judged by the protected evaluator, here and now, and keeps the runs."""

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from app.errors import InvalidInput, UnknownItem
from app.records import Item, Problem, Run
from app.services.settling import settle
from app.services.work_orders import INTERPRETER
from app.store import corpus, facts
from app.store.database import Database
from app.store.work_orders import Outcome
from app.verification import CPU_LIMITS, GPU_LIMITS, Candidate, Job, RunRecord, read_problem, verify_many
from app.verification.batch import RETRIED_ALONE
from app.vocabulary import RunState


@dataclass(frozen=True, slots=True)
class Judged:
    """A kernel, and the record of its run; None where its problem's file is not at hand."""

    item_id: str
    record: RunRecord | None
    reason: str = ""


def verify_kernels(
    database: Database,
    item_ids: Sequence[str] | None,
    folders: Iterable[Path],
    gpu: int | None,
    on_done: Callable[[str, str], None] = lambda _item_id, _verdict: None,
    on_phase: Callable[[str, str], None] = lambda _item_id, _phase: None,
) -> list[Judged]:
    """Judges the named kernels, or all of them, on one GPU or (gpu None) in the interpreter; keeps each run as it
    is finished, so that a killed batch loses only what was under way.

    `folders` hold problem files: `<slug>.py`, or a KernelBench checkout. A kernel whose problem is not among them, or
    differs from the problem that is known under that id, is not judged, and the answer says why. `on_phase` and
    `on_done` are told of each kernel's phases and verdict by the threads that judge.
    """
    with database.read() as session:
        items = {item.id: item for item in corpus.items_since(session, -1) if item.kernel is not None and item.shown}
        problems = corpus.facts(session).problems
    missing = [item_id for item_id in item_ids or () if item_id not in items]
    if missing:
        raise UnknownItem(f"There is no active kernel {', '.join(missing)}.")
    chosen = [items[item_id] for item_id in item_ids] if item_ids is not None else list(items.values())
    found = [(item, problem_file(problems.get(item.source_problem or ""), list(folders))) for item in chosen]
    jobs = [(item, job_for(item, path)) for item, path in found if path is not None]
    records = _judge(database, jobs, gpu, on_done, on_phase)
    judged = {item.id: record for (item, _), record in zip(jobs, records, strict=True)}
    reason = "its problem's file is not in any folder given, or differs from the problem that is known"
    return [Judged(item.id, judged.get(item.id), "" if item.id in judged else reason) for item in chosen]


def _judge(
    database: Database,
    jobs: Sequence[tuple[Item, Job]],
    gpu: int | None,
    on_done: Callable[[str, str], None],
    on_phase: Callable[[str, str], None],
) -> list[RunRecord]:
    """The records of all jobs. A verdict that may be repeated is kept at the end: the second one counts."""
    kept: set[int] = set()

    def done(index: int, record: RunRecord) -> None:
        item = jobs[index][0]
        if record.verdict not in RETRIED_ALONE:
            _keep(database, item, record)
            kept.add(index)
        on_done(item.id, record.verdict.value)

    records = verify_many(
        [job for _, job in jobs],
        "cpu" if gpu is None else f"cuda:{gpu}",
        CPU_LIMITS if gpu is None else GPU_LIMITS,
        on_record=done,
        on_phase=lambda index, phase: on_phase(jobs[index][0].id, phase),
    )
    for index, ((item, _), record) in enumerate(zip(jobs, records, strict=True)):
        if index not in kept:
            _keep(database, item, record)
    return records


def problem_file(problem: Problem | None, folders: Sequence[Path]) -> Path | None:
    """The file of a problem, if one of the folders holds it and it has not changed."""
    if problem is None:
        return None
    numbered = f"level{problem.level}/{problem.number}_{problem.name}.py"
    for folder in folders:
        for path in (folder / f"{problem.id}.py", folder / numbered, folder / "KernelBench" / numbered):
            if path.is_file() and problem.sha256 in (None, read_problem(path).sha256):
                return path
    return None


def job_for(item: Item, path: Path) -> Job:
    """The job of judging a kernel against the problem in a file; InvalidInput where the item has no code."""
    if item.kernel is None:
        raise InvalidInput(f"{item.id} has no code.")
    return Job(read_problem(path), Candidate(item.kernel.source.encode(), item.id, item.kernel.entry_point))


def outcome_of(record: RunRecord) -> Outcome:
    """What a run's row keeps of its record."""
    content = record.to_json()
    speedup = record.figures.speedup if record.figures is not None else None
    return Outcome(
        verdict=record.verdict.value,
        speedup=None if speedup is None else Decimal(f"{speedup:.6f}"),
        figures={name: content[name] for name in ("figures", "flags", "detail", "evidence", "phases", "seconds")},
        fingerprint=content["fingerprint"],
    )


def _keep(database: Database, item: Item, record: RunRecord) -> None:
    run = stored_run(item, record)
    with database.write() as session:
        corpus.lock(session)
        facts.put_runs(session, [run])
        settle(session, item.id, run.hardware)
        corpus.advance(session, facts=True)


def stored_run(item: Item, record: RunRecord) -> Run:
    """The row of a run that has just finished: all figures and the whole evidence."""
    outcome = outcome_of(record)
    return Run(
        id=f"run-{uuid.uuid4().hex}",
        item_id=item.id,
        state=RunState.FINISHED.value,
        hardware=_hardware(record),
        verdict=outcome.verdict,
        speedup=outcome.speedup,
        figures=outcome.figures,
        fingerprint=outcome.fingerprint,
        content_hash=item.kernel.content_hash if item.kernel else None,
        finished_at=datetime.now(UTC),
    )


def _hardware(record: RunRecord) -> str:
    if record.device == INTERPRETER:
        return INTERPRETER
    return str(record.fingerprint.get("gpu") or record.device)
