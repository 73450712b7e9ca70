"""Kernels: what they claim beside what was measured, their runs, and having one judged now."""

from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Form, Query
from pydantic import Field
from starlette.responses import Response

from app.admin.charts import Figure, claimed_and_measured, speedups_over_time
from app.admin.charts.intervals import Measured
from app.admin.desk import Desk, DeskDep, as_csv
from app.admin.forms import AdminForm
from app.admin.gate import DeskRoute, needs
from app.errors import InvalidInput
from app.records import Item, Run
from app.services import kernels, runs
from app.services.fleet_view import fleet
from app.services.kernels import KernelPage, StandingKernel
from app.services.texts import Name
from app.services.work_orders import order
from app.vocabulary import ItemStatus, Scope

router = APIRouter(prefix="/admin/kernels", route_class=DeskRoute)

SHOWN = 25
RUNS_SHOWN = 50

After = Annotated[str | None, Query(max_length=200)]


@router.get("")
@needs(Scope.READ)
def kernels_page(desk: DeskDep, after: After = None) -> Response:
    """Kernels with a chart of their claims and measurements."""
    page = _page(desk, after)
    return desk.page("kernels.html", page=page, after=after, chart=_claims(page), fleet=fleet(desk.services.database))


@router.get("/measured.csv")
@needs(Scope.READ)
def measured_csv(desk: DeskDep, after: After = None) -> Response:
    """The chart's data."""
    chart = _claims(_page(desk, after))
    if chart is None:
        raise InvalidInput("There are no kernels yet.")
    return as_csv("kernels.csv", chart)


@router.get("/{item_id}")
@needs(Scope.READ)
def kernel_page(desk: DeskDep, item_id: str) -> Response:
    """One kernel: source, claim and measurements, runs."""
    database = desk.services.database
    kernel = kernels.get_kernel(database, item_id)
    listed = runs.list_runs(database, item_id=item_id, limit=RUNS_SHOWN)
    return desk.page(
        "kernel.html",
        kernel=kernel,
        item=kernel.item,
        warnings=kernels.source_warnings(kernel.item.kernel) if kernel.item.kernel else [],
        runs=listed,
        claims=claimed_and_measured(list(_measured(kernel))) if kernel.measured else None,
        history=_history(kernel.item, listed.runs),
        fleet=fleet(database),
    )


@router.get("/{item_id}/speedups.csv")
@needs(Scope.READ)
def speedups_csv(desk: DeskDep, item_id: str) -> Response:
    """The kernel's measurements over time."""
    kernel = kernels.get_kernel(desk.services.database, item_id)
    chart = _history(kernel.item, runs.list_runs(desk.services.database, item_id=item_id, limit=RUNS_SHOWN).runs)
    if chart is None:
        raise InvalidInput(f"{item_id} was never measured.")
    return as_csv("speedups.csv", chart)


class VerifyForm(AdminForm):
    """Where a kernel is to be judged."""

    hardware: Annotated[Name, Field(max_length=100)]


@router.post("/{item_id}/verify")
@needs(Scope.VERIFY)
def verify(desk: DeskDep, item_id: str, form: Annotated[VerifyForm, Form()]) -> Response:
    """Orders a verification run and leads to its progress."""
    services = desk.services
    ordered = order(services.database, services.queue, [item_id], [form.hardware], actor=desk.name)
    return desk.to(f"/admin/runs/{ordered[0].id}")


def _page(desk: Desk, after: str | None) -> KernelPage:
    return kernels.list_kernels(desk.services.database, after=after, limit=SHOWN, statuses=[ItemStatus.ACTIVE])


def _claims(page: KernelPage) -> Figure | None:
    measured = [entry for kernel in page.kernels for entry in _measured(kernel)]
    return claimed_and_measured(measured) if measured else None


def _measured(kernel: StandingKernel) -> Iterable[Measured]:
    """One entry for each kind of hardware; one without figures for a kernel that was never judged."""
    for _, run in sorted(kernel.measured.items()):
        yield measured_by(kernel.item, run)
    if not kernel.measured:
        yield Measured(kernel.item.id, "not verified yet", _float(kernel.item), None, None, None, None, "no run")


def measured_by(item: Item, run: Run) -> Measured:
    """What a run measured, beside what the kernel claims."""
    figures = (run.figures or {}).get("figures") or {}
    return Measured(
        kernel=item.id,
        hardware=run.hardware,
        claimed=_float(item),
        speedup=None if run.speedup is None else float(run.speedup),
        low=figures.get("speedup_lo95"),
        high=figures.get("speedup_hi95"),
        at=run.finished_at,
        verdict=run.verdict or run.state,
    )


def _float(item: Item) -> float | None:
    return None if item.claimed_speedup is None else float(item.claimed_speedup)


def _history(item: Item, listed: list[Run]) -> Figure | None:
    found = [measured_by(item, run) for run in listed if run.speedup is not None and run.finished_at is not None]
    found.sort(key=lambda entry: entry.at.timestamp() if entry.at else 0.0)
    return speedups_over_time(found) if found else None
