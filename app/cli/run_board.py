"""What a person sees while kernels are judged: how many are done, and in which phase each running one is."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn


class RunBoard:
    """One line in all and one for each running kernel; without a terminal, one plain line for each that is done.

    Safe for the several threads that judge.
    """

    def __init__(self, console: Console, bars: Progress, total: int | None) -> None:
        self._console, self._bars, self._total = console, bars, total
        self._all = bars.add_task("judged", total=total)
        self._lines: dict[str, TaskID] = {}
        self._lock = threading.Lock()
        self._done = 0

    def phase(self, name: str, phase: str) -> None:
        """A kernel has entered a phase: load, build, correctness, compile, timing or profile."""
        with self._lock:
            if name not in self._lines:
                self._lines[name] = self._bars.add_task(name, total=None)
            self._bars.update(self._lines[name], description=f"  {name}: {phase}")

    def done(self, name: str, verdict: str) -> None:
        """A kernel has its verdict."""
        with self._lock:
            self._done += 1
            if name in self._lines:
                self._bars.remove_task(self._lines.pop(name))
            self._bars.advance(self._all)
            if not self._console.is_terminal:
                of = f"{self._done} of {self._total}" if self._total is not None else str(self._done)
                self._console.print(f"{of}: {name} {verdict}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def run_board(console: Console, total: int | None) -> Iterator[RunBoard]:
    """A board on that console for `total` kernels, None where the number is not known."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=not console.is_terminal) as bars:
        yield RunBoard(console, bars, total)
