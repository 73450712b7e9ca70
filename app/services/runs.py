"""Verification runs as they are listed and read, orders that wait included."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.errors import InvalidInput, UnknownRun
from app.records import Run
from app.store import runs
from app.store.database import Database
from app.vocabulary import RunState, Verdict


@dataclass(frozen=True, slots=True)
class RunListing:
    """Part of a list of runs."""

    runs: list[Run]
    total: int
    next_cursor: str | None


def list_runs(
    database: Database,
    *,
    after: str | None = None,
    limit: int = 50,
    item_id: str | None = None,
    hardware: str | None = None,
    night: str | None = None,
    states: Iterable[RunState] = (),
    verdicts: Iterable[Verdict] = (),
    controls: bool | None = None,
) -> RunListing:
    """Up to `limit` runs, the newest order first, after the run `after`. InvalidInput for an unknown one."""
    with database.read() as session:
        page = runs.page(
            session,
            after=after,
            limit=limit,
            item_id=item_id,
            hardware=hardware,
            night=night,
            states=states,
            verdicts=verdicts,
            controls=controls,
        )
    if page is None:
        raise InvalidInput(f"The cursor {after!r} is no run; begin without one.")
    full = len(page.runs) == limit
    return RunListing(page.runs, page.total, page.runs[-1].id if full else None)


def get_run(database: Database, run_id: str) -> Run:
    """One run with its live state, or UnknownRun."""
    with database.read() as session:
        run = runs.get(session, run_id)
    if run is None:
        raise UnknownRun(f"There is no run {run_id!r}.")
    return run
