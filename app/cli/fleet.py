"""Commands of the fleet: workers, and the nightly job."""

import logging
import sys
import time
from datetime import UTC, datetime
from typing import Annotated

import typer

from app.cli.output import AsJson, remark, say, say_json
from app.errors import Conflict, InvalidInput, NoWorker
from app.services import findings, nightly, reporting, telling, work_orders
from app.services.assembly import Services, assembled
from app.services.migrate import ensure_migrated
from app.services.queue import Queue
from app.settings import Settings
from app.store.database import Database
from app.verification.fingerprint import evaluator_version
from app.verification.gpus import gpu_names
from app.vocabulary import NightState
from app.worker.consumer import serve
from app.worker.crew import TAKEN, Crew
from app.worker.device import held
from app.worker.judging import EvaluatorJudge

ALL, CPU = "all", "cpu"
_LOOK_S = 0.5


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(worker)
    app.command(name="nightly")(nightly_command)


def worker(
    gpu: Annotated[
        str, typer.Option(help="Index of a GPU, `all` for a worker on each, `cpu` for the interpreter.")
    ] = ALL,
) -> None:
    """Judges what is ordered, until it is stopped. SIGTERM lets runs finish for a while, SIGINT puts them back."""
    settings = Settings()
    logging.basicConfig(level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s %(message)s")
    database = Database(settings)
    ensure_migrated(database)
    if gpu == ALL:
        Crew([str(index) for index in _gpus()], settings.stop_grace_s + 30).run()
        return
    if gpu != CPU and not gpu.isdigit():
        raise InvalidInput(f"--gpu takes an index, `{ALL}` or `{CPU}`, not {gpu!r}.")
    try:
        with held(gpu):
            judge = EvaluatorJudge(database, None if gpu == CPU else int(gpu), settings.problem_folders)
            serve(database, Queue(settings), judge, gpu)
    except Conflict as taken:
        remark(taken.detail)
        sys.exit(TAKEN)


def nightly_command(
    cpu: Annotated[bool, typer.Option("--cpu", help="Judge in Triton's interpreter: no figures.")] = False,
    work: Annotated[bool, typer.Option("--work", help="Start workers for the night on this machine.")] = False,
    kernel: Annotated[list[str] | None, typer.Option("--kernel", help="Only these kernels; several times.")] = None,
    date: Annotated[str | None, typer.Option(help="Date of the night in UTC; today's by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Runs the nightly job, or joins it where it runs already, and prints its summary."""
    services = assembled(Settings())
    ensure_migrated(services.database)
    night = date or datetime.now(UTC).date().isoformat()
    _require_date(night)
    evaluators = _evaluators(services.database, cpu=cpu, work=work)
    crew = Crew([CPU] if cpu else [str(index) for index in _gpus()], 60) if work else None
    try:
        _run(services, night, evaluators, kernel, crew)
    finally:
        services.close()
    _show(Database(services.settings), night, as_json=as_json)


def _run(services: Services, night: str, evaluators: dict[str, str], only: list[str] | None, crew: Crew | None) -> None:
    """Opens the night or joins it, takes its steps until it is closed, and tells what came of it."""
    database, queue = services.database, services.queue
    opened = nightly.begin(database, queue, night, evaluators, "nightly", only)
    remark(f"Night of {night}: {'opened' if opened else 'joined'}.")
    try:
        state = ""
        while (now := nightly.step(database, queue, night)).state != NightState.CLOSED:
            if now.state != state:
                remark(f"Night of {night}: {now.state}.")
                state = now.state
            work_orders.sweep(database, queue)
            if crew is not None and not crew.tend() and not work_orders.living_workers(database):
                raise NoWorker("No worker could be started here; what they said is above.")
            time.sleep(_LOOK_S)
    finally:
        if crew is not None:
            crew.stop()
    findings.lint(database, services.catalog)
    reporting.write(database, night)
    telling.tell(database, night, is_opener=opened)


def _evaluators(database: Database, *, cpu: bool, work: bool) -> dict[str, str]:
    """Kind of hardware -> version of the evaluator that would judge there."""
    if work:
        kinds = [work_orders.INTERPRETER] if cpu else sorted(set(_gpus().values()))
        return dict.fromkeys(kinds, evaluator_version())
    found = {worker.hardware: worker.evaluator for worker in work_orders.living_workers(database)}
    chosen = {kind: version for kind, version in found.items() if (kind == work_orders.INTERPRETER) == cpu}
    if not chosen:
        wanted = "`playbook worker --gpu cpu`" if cpu else "`playbook worker`"
        raise NoWorker(f"No such worker lives. Start {wanted}, or let this command work itself with --work.")
    return chosen


def _gpus() -> dict[int, str]:
    found = gpu_names()
    if not found:
        raise InvalidInput("nvidia-smi shows no GPU here. --gpu cpu, or nightly --cpu, judges without figures.")
    return found


def _require_date(text: str) -> None:
    try:
        if datetime.strptime(text, "%Y-%m-%d").date().isoformat() == text:
            return
    except ValueError:
        pass
    raise InvalidInput(f"{text!r} is no date such as 2026-11-30.")


def _show(database: Database, night: str, *, as_json: bool) -> None:
    report = reporting.report_of(database, night).content
    folder = database.settings.var_dir / "nights"
    database.dispose()
    if as_json:
        say_json(report)
        return
    for name, number in report["summary"]["counts"].items():
        say(f"{name.replace('_', ' ')}: {number}")
    say(f"report: {folder / night}.html")
