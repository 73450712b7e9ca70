"""Nights: what each one verified, and what got worse or better."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from starlette.responses import HTMLResponse, JSONResponse, Response

from app.admin.charts import Figure, claimed_and_measured
from app.admin.desk import Desk, DeskDep, as_csv
from app.admin.gate import DeskRoute, needs
from app.admin.pages.kernels import measured_by
from app.errors import InvalidInput
from app.records import Run
from app.services import nights, reporting
from app.services.neighbours import side_by_side
from app.services.runs import list_runs
from app.vocabulary import Scope

router = APIRouter(prefix="/admin/nights", route_class=DeskRoute)

RUNS_SHOWN = 500
CHARTED = 60
"""Kernels that one chart can show."""

Date = Annotated[str, Path(pattern=r"^\d{4}-\d{2}-\d{2}$")]


@router.get("")
@needs(Scope.READ)
def nights_page(desk: DeskDep, before: Annotated[str | None, Query(max_length=10)] = None) -> Response:
    """Nights, newest first."""
    return desk.page("nights.html", listed=nights.list_nights(desk.services.database, before=before), before=before)


@router.get("/{date}")
@needs(Scope.READ)
def night_page(desk: DeskDep, date: Date) -> Response:
    """The report of one night."""
    night = nights.get_night(desk.services.database, date)
    listed = list_runs(desk.services.database, night=date, limit=RUNS_SHOWN)
    return desk.page("night.html", night=night, runs=listed, chart=_chart(desk, listed.runs))


@router.get("/{date}/measured.csv")
@needs(Scope.READ)
def measured_csv(desk: DeskDep, date: Date) -> Response:
    """What the night measured."""
    chart = _chart(desk, list_runs(desk.services.database, night=date, limit=RUNS_SHOWN).runs)
    if chart is None:
        raise InvalidInput(f"The night of {date} measured nothing.")
    return as_csv(f"night-{date}.csv", chart)


@router.get("/{date}/report.{kind}")
@needs(Scope.READ)
def report_file(desk: DeskDep, date: Date, kind: Literal["html", "json"]) -> Response:
    """The whole report as a file to keep: what the night wrote, made anew from the runs."""
    report = reporting.report_of(desk.services.database, date)
    headers = {"Content-Disposition": f'attachment; filename="night-{date}.{kind}"'}
    if kind == "html":
        return HTMLResponse(reporting.as_html(report), headers=headers)
    return JSONResponse(report.content, headers=headers)


def _chart(desk: Desk, listed: list[Run]) -> Figure | None:
    timed = [run for run in listed if run.item_id is not None and run.speedup is not None][:CHARTED]
    items = {item.id: item for item in side_by_side(desk.services.database, [run.item_id or "" for run in timed])}
    measured = [measured_by(items[run.item_id], run) for run in timed if run.item_id in items]
    return claimed_and_measured(measured) if measured else None
