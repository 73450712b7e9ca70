"""One verification run: how far it is, and what it found."""

from datetime import UTC, datetime, timedelta

from fastapi import APIRouter
from starlette.responses import Response

from app.admin.desk import DeskDep
from app.admin.gate import DeskRoute, needs
from app.services import runs
from app.services.fleet_view import fleet
from app.vocabulary import RunState, Scope

router = APIRouter(prefix="/admin/runs", route_class=DeskRoute)

SILENT = timedelta(seconds=20)
"""A running run whose worker was not heard of for so long may have lost it."""


@router.get("/{run_id}")
@needs(Scope.READ)
def run_page(desk: DeskDep, run_id: str) -> Response:
    """The run; while it is not finished, the page asks again by itself, or when it is loaded anew."""
    database = desk.services.database
    run = runs.get_run(database, run_id)
    now = datetime.now(UTC)
    is_silent = run.state == RunState.RUNNING and run.heartbeat_at is not None and now - run.heartbeat_at > SILENT
    return desk.page("run.html", run=run, is_silent=is_silent, fleet=fleet(database))
