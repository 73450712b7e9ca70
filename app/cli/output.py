"""How commands print: results to standard output, progress and complaints to standard error."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

errors = Console(stderr=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def say(text: str) -> None:
    """One line for a person on standard output."""
    typer.echo(text)


def say_json(value: Any) -> None:
    """A value as JSON on standard output."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def remark(text: str) -> None:
    """A message for a person beside the result, on standard error."""
    errors.print(escape(text), soft_wrap=True)


def complain(text: str) -> None:
    """A message on standard error."""
    errors.print(f"[bold red]error[/] {escape(text)}", soft_wrap=True)


@contextmanager
def progress_bars(**totals: int | None) -> Iterator[Callable[[str, int], None]]:
    """Bars on standard error, one a step; the callable moves a step's bar on. A total of None is not known yet."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=errors, transient=not errors.is_terminal) as bars:
        tasks = {step: bars.add_task(step, total=total) for step, total in totals.items()}
        yield lambda step, done: bars.advance(tasks[step], done)
