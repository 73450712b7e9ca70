"""Commands verify-bundle: kernels judged on a GPU host without database or network."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import AsJson, complain, errors, say, say_json
from app.cli.run_board import run_board
from app.cli.verify import Folders, Kernels, line_of
from app.errors import InvalidInput
from app.services.bundle_export import export_bundle
from app.services.bundle_import import import_bundle
from app.services.migrate import ensure_migrated
from app.settings import Settings
from app.store.database import Database
from app.verification import CPU_LIMITS, GPU_LIMITS
from app.verification.bundle import judge_bundle, open_bundle
from app.verification.gpus import gpu_names

group = typer.Typer(help="Judge kernels on a GPU host without database or network.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Adds the group."""
    app.add_typer(group, name="verify-bundle")


@group.command("export")
def export(
    target: Annotated[Path, typer.Argument(help="New folder, or a new archive (*.tar).", show_default=False)],
    kernel: Kernels = None,
    every: Annotated[bool, typer.Option("--all", help="Every active kernel.")] = False,
    problems: Folders = None,
    as_json: AsJson = False,
) -> None:
    """Writes kernels, their problems and the evaluator into a bundle."""
    if bool(kernel) == every:
        raise InvalidInput("Name kernels with --kernel, or say --all.")
    done = export_bundle(_database(), target, kernel, problems or [Path("bullets/problems")])
    if as_json:
        say_json({"bundle": str(target), "kernels": done.item_ids, "left_out": done.left_out})
        return
    say(f"{target}: {len(done.item_ids)} kernels. On the GPU host: sh run.sh, then bring the folder back.")
    for item_id in done.left_out:
        say(f"{item_id}: left out, its problem's file is not in any folder given, or differs from the known one")


@group.command("run")
def run(
    folder: Annotated[Path, typer.Argument(help="The bundle's folder.", show_default=False)],
    gpu: Annotated[str, typer.Option(help="Index of the GPU, or `all`.")] = "0",
    cpu: Annotated[bool, typer.Option("--cpu", help="Triton's interpreter: verdicts without figures.")] = False,
    workers: Annotated[int | None, typer.Option(min=1, help="Runs side by side.")] = None,
    as_json: AsJson = False,
) -> None:
    """Judges what a bundle orders and has no result yet; needs neither database nor settings."""
    bundle = open_bundle(folder)
    devices = ["cpu"] if cpu else _devices(gpu)
    try:
        with run_board(errors, len(bundle.waiting)) as board:
            judge_bundle(
                bundle,
                devices,
                CPU_LIMITS if cpu else GPU_LIMITS,
                workers,
                on_record=lambda work, record: board.done(work.item_id, record.verdict.value),
                on_phase=lambda work, phase: board.phase(work.item_id, phase),
            )
    except OSError as fault:
        complain(f"The results cannot be written: {fault.strerror or fault}. Free some room and start again.")
        raise typer.Exit(1) from fault
    if as_json:
        say_json({item_id: record.to_json() for item_id, record in bundle.judged.items()})
        return
    for item_id, record in bundle.judged.items():
        say(line_of(item_id, record))


@group.command("import")
def bring_back(
    path: Annotated[Path, typer.Argument(help="Folder or archive of a bundle that was run.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Stores a bundle's runs, after holding them against the database and their own evidence."""
    done = import_bundle(_database(), path)
    if as_json:
        stored = [{"id": run.id, "item_id": run.item_id, "verdict": run.verdict} for run in done.stored]
        say_json({"stored": stored, "known": done.known, "apart": done.apart, "not_judged": done.not_judged})
        return
    say(f"{len(done.stored)} runs stored, {done.known} known already")
    for item_id, reason in done.apart.items():
        say(f"{item_id}: its run is kept apart and counts for nothing: {reason}")
    for item_id in done.not_judged:
        complain(f"{item_id}: not judged yet")


def _devices(gpu: str) -> list[str]:
    if gpu != "all":
        return [f"cuda:{gpu}"]
    found = [f"cuda:{index}" for index in gpu_names()]
    if not found:
        raise InvalidInput("nvidia-smi shows no GPU here; --cpu judges without figures.")
    return found


def _database() -> Database:
    database = Database(Settings())
    ensure_migrated(database)
    return database
