"""Commands that ask the playbook: search and context."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import AsJson, say, say_json
from app.errors import InvalidInput
from app.records import Task
from app.services.assembly import Services, assembled
from app.services.comparison import compared
from app.services.context import ContextWish
from app.services.deriving import derive_missing
from app.services.migrate import ensure_migrated
from app.services.ranking import Wish
from app.settings import Settings

Problem = Annotated[str | None, typer.Option("--problem", help="Id of a known problem, such as L2_020.")]
TaskFile = Annotated[
    Path | None, typer.Option("--task", help="File with the task's prose, or its PyTorch module (.py).")
]
Budget = Annotated[int | None, typer.Option("--token-budget", min=1, help="Most tokens of the answer.")]


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(search)
    app.command()(context)


def search(
    text: Annotated[str, typer.Argument(help="The task in words.")],
    top_k: Annotated[int, typer.Option(min=1, max=200, help="Most results.")] = 10,
    threshold: Annotated[float | None, typer.Option(min=0, max=1, help="Lowest score.")] = None,
    as_json: AsJson = False,
) -> None:
    """Finds the items that help with a task."""
    services = _ready()
    lowest = services.settings.threshold if threshold is None else threshold
    found = services.search.find(_task(None, None, text), Wish(top_k=top_k, threshold=lowest))
    if as_json:
        results = [
            {"id": entry.item.id, "score": entry.score, "kind": entry.item.kind, "text": entry.item.text}
            for entry in found.results
        ]
        say_json({"results": results, "total_candidates": found.total_candidates, "notes": found.notes})
        return
    for entry in found.results:
        say(f"{entry.score:.3f}  {entry.item.id}  {entry.item.kind}  {entry.item.text.splitlines()[0][:100]}")
    for note in found.notes:
        say(f"note: {note}")
    if not found.results:
        say(f"No item scores {lowest} or more for this task.")


def context(
    reader: Annotated[str, typer.Option(help="The model that will read the context.")],
    policy: Annotated[str | None, typer.Option(help="What is shown and how; see docs/policies.md.")] = None,
    compare: Annotated[tuple[str, str] | None, typer.Option(help="Two policies: print how they differ.")] = None,
    problem: Problem = None,
    task: TaskFile = None,
    token_budget: Budget = None,
    hardware: Annotated[str | None, typer.Option(help="Device of the reader, such as 'NVIDIA H200'.")] = None,
    exclude_source_problem: Annotated[bool, typer.Option(help="Leave out what was learned from the problem.")] = False,
    as_json: AsJson = False,
) -> None:
    """Prints the context that a policy gives a reader for a task, or how two policies differ there."""
    if (policy is None) == (compare is None):
        raise InvalidInput("Name one policy with --policy, or two with --compare.")
    services = _ready()
    asked = _task(problem, task, None)
    rendered, *others = (
        services.contexts.render(ContextWish(asked, reader, name, token_budget, hardware, exclude_source_problem))
        for name in (compare or (policy or "",))
    )
    if as_json:
        say_json([asdict(each) for each in (rendered, *others)] if others else asdict(rendered))
        return
    if others:
        say(compared(rendered, others[0]))
        return
    sys.stdout.buffer.write(rendered.text.encode())
    sys.stdout.buffer.flush()


def _ready() -> Services:
    services = assembled(Settings())
    ensure_migrated(services.database)
    derive_missing(services.database, services.embedder)
    return services


def _task(problem: str | None, file: Path | None, text: str | None) -> Task:
    if text is not None and not text.strip():
        raise InvalidInput("The task is blank; say something.")
    if problem is None and file is None and text is None:
        raise InvalidInput("Name a problem with --problem, or a file with --task.")
    if file is None:
        return Task(problem_id=problem, text=text)
    try:
        content = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise InvalidInput(f"{file}: cannot be read as UTF-8 text ({fault}).") from fault
    return Task(problem, code=content) if file.suffix == ".py" else Task(problem, text=content)
