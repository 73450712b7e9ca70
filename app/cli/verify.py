"""Command verify: judges kernels of the playbook, or one file against a problem."""

import json
from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import AsJson, errors, say, say_json
from app.cli.run_board import run_board
from app.errors import InvalidInput
from app.services.migrate import ensure_migrated
from app.services.verifying import Judged, verify_kernels
from app.settings import Settings
from app.store.database import Database
from app.verification import CPU_LIMITS, GPU_LIMITS, Job, RunRecord, read_candidate, read_problem, verify_many

Kernels = Annotated[list[str] | None, typer.Option("--kernel", help="Id of a kernel; may be given several times.")]
Folders = Annotated[
    list[Path] | None, typer.Option("--problems", help="Folder of problem files, or a KernelBench checkout.")
]


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(verify)


def verify(
    kernel: Kernels = None,
    every: Annotated[bool, typer.Option("--all", help="Judge every active kernel.")] = False,
    problems: Folders = None,
    problem: Annotated[Path | None, typer.Option(help="Problem file, for judging a file without a database.")] = None,
    candidate: Annotated[Path | None, typer.Option(help="Candidate file: defines ModelNew.")] = None,
    gpu: Annotated[int, typer.Option(min=0, help="Index of the GPU.")] = 0,
    cpu: Annotated[bool, typer.Option("--cpu", help="Triton's interpreter: verdicts without figures.")] = False,
    as_json: AsJson = False,
) -> None:
    """Judges kernels by the protected evaluator and keeps the runs, or judges one file."""
    by_file = problem is not None and candidate is not None
    if sum((bool(kernel), every, by_file)) != 1:
        raise InvalidInput("Name kernels with --kernel, or say --all, or give --problem and --candidate.")
    if problem is not None and candidate is not None:
        limits, device = (CPU_LIMITS, "cpu") if cpu else (GPU_LIMITS, f"cuda:{gpu}")
        job = Job(read_problem(problem), read_candidate(candidate))
        with run_board(errors, 1) as board:
            (record,) = verify_many([job], device, limits, on_phase=lambda _, phase: board.phase(candidate.name, phase))
            board.done(candidate.name, record.verdict.value)
        say(json.dumps(record.to_json(), indent=1) if as_json else line_of(candidate.name, record))
        return
    database = Database(Settings())
    ensure_migrated(database)
    folders = problems or [Path("bullets/problems")]
    with run_board(errors, len(kernel) if kernel else None) as board:
        judged = verify_kernels(database, kernel, folders, None if cpu else gpu, board.done, board.phase)
    _show(judged, as_json=as_json)


def _show(judged: list[Judged], *, as_json: bool) -> None:
    if as_json:
        say_json(
            [
                {"item_id": j.item_id, "run": j.record.to_json() if j.record else None, "reason": j.reason}
                for j in judged
            ]
        )
        return
    for entry in judged:
        say(
            f"{entry.item_id}: not judged, {entry.reason}"
            if entry.record is None
            else line_of(entry.item_id, entry.record)
        )


def line_of(name: str, record: RunRecord) -> str:
    """One run for a person."""
    figures = record.figures
    speed = f"  {figures.speedup:.2f}x (at least {figures.speedup_lo95:.2f}x)" if figures is not None else ""
    return f"{name}: {record.verdict.value}{speed}  {record.detail}".rstrip()
