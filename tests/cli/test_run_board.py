"""The board of running kernels: each phase on a terminal, one line a verdict elsewhere."""

import io

from rich.console import Console

from app.cli.run_board import run_board


def test_a_terminal_shows_the_phase_of_each_kernel_that_runs() -> None:
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, width=100)
    with run_board(console, 2) as board:
        board.phase("ker-00001", "load")
        board.phase("ker-00002", "correctness")
        board._bars.refresh()
        both = shown.getvalue()
        board.done("ker-00001", "verified")
        shown.truncate(0)
        board._bars.refresh()
    assert "ker-00001: load" in both and "ker-00002: correctness" in both
    assert "ker-00001" not in shown.getvalue() and "1/2" in shown.getvalue()


def test_elsewhere_each_verdict_is_one_line() -> None:
    shown = io.StringIO()
    with run_board(Console(file=shown, force_terminal=False, width=100), None) as board:
        board.phase("[red]", "load")
        board.done("[red]", "verified")
    assert shown.getvalue().strip() == "1: [red] verified"
