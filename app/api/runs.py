"""Routes of verification runs and nights."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Query, status
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, Field

from app.api.deps import DatabaseDep, ServicesDep
from app.api.guard import READS, require
from app.api.problem_details import answers
from app.api.schemas import Listing, Request, Speedup
from app.api.texts import Name
from app.records import Caller, Night, Run
from app.services import kernels, nights, reporting, runs, work_orders
from app.vocabulary import NightState, OrderReason, RunState, Scope, Verdict

router = APIRouter(prefix="/v1", tags=["verification"])

Hardware = Annotated[str, Field(min_length=1, max_length=100, examples=["NVIDIA H200", "cpu-interpreter"])]
NightDate = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$", examples=["2026-11-30"])]


class VerifyIn(Request):
    """Where a kernel is to be judged."""

    hardware: list[Hardware] = Field(
        default_factory=list,
        max_length=20,
        description="Kinds of device; every kind that a living worker has if empty.",
    )


class RunOut(BaseModel):
    """A verification run, waiting, under way or finished."""

    id: str
    item_id: str | None = Field(description="The kernel; null for a control of a night.")
    control: str | None = Field(description="reference, zeros, or the name of a known-bad candidate.")
    problem: str | None
    state: RunState
    hardware: str
    reason: OrderReason = Field(description="Why it was ordered.")
    actor: str | None
    night: str | None
    attempts: int = Field(description="How often a worker began it.")
    worker: str | None
    phase: str | None = Field(description="What the worker is at, while it is running.")
    verdict: Verdict | None
    speedup: Speedup | None = Field(description="Median speedup over eager (a ratio).")
    figures: dict[str, Any] | None = Field(description="Ratios with bounds, milliseconds, trials; null if not timed.")
    flags: list[str]
    detail: str
    fingerprint: dict[str, Any] | None = Field(description="Evaluator, GPU, versions, clocks; compare equal ones only.")
    queued_at: datetime | None
    started_at: datetime | None
    heartbeat_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, run: Run) -> Self:
        """The run of a record."""
        return cls(**_plain(run))


class RunDetailOut(RunOut):
    """A run with everything that led to its verdict."""

    evidence: dict[str, Any]
    phases: dict[str, float] = Field(description="Seconds of each phase.")
    seconds: float | None

    @classmethod
    def of(cls, run: Run) -> Self:
        """The run of a record."""
        kept = run.figures or {}
        return cls(
            **_plain(run),
            evidence=kept.get("evidence") or {},
            phases=kept.get("phases") or {},
            seconds=kept.get("seconds"),
        )


class NightOut(BaseModel):
    """A nightly job."""

    date: str
    state: NightState
    hardware: list[str]
    opened_by: str
    opened_at: datetime
    closed_at: datetime | None
    plan: dict[str, Any] = Field(description="What was due and why, and what could not be judged.")
    summary: dict[str, Any] | None = Field(description="What came of it; null until the night is closed.")

    @classmethod
    def of(cls, night: Night) -> Self:
        """The night of a record."""
        values = {name: getattr(night, name) for name in cls.model_fields}
        return cls(**{**values, "hardware": list(night.hardware)})


@router.post(
    "/kernels/{item_id}/verify",
    operation_id="verify_kernel",
    status_code=status.HTTP_202_ACCEPTED,
    responses=answers(400, 404, 409, 413, 422, 503),
)
def verify_kernel(
    services: ServicesDep, caller: Annotated[Caller, require(Scope.VERIFY)], item_id: Name, wish: VerifyIn | None = None
) -> Listing[RunOut]:
    """Orders a run of a kernel; poll GET /v1/runs/{id} for its progress. A run that waits already is returned."""
    hardware = wish.hardware if wish else []
    placed = work_orders.order(services.database, services.queue, [item_id], hardware, actor=caller.name)
    return Listing(items=[RunOut.of(run) for run in placed], total=len(placed))


@router.get(
    "/kernels/{item_id}/runs", operation_id="list_kernel_runs", dependencies=READS, responses=answers(404, 422, 503)
)
def list_kernel_runs(
    database: DatabaseDep,
    item_id: Name,
    cursor: Name | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> Listing[RunOut]:
    """Verification runs of a kernel, the newest order first."""
    kernels.get_kernel(database, item_id)
    found = runs.list_runs(database, after=cursor, limit=limit, item_id=item_id)
    return Listing(items=[RunOut.of(run) for run in found.runs], total=found.total, next_cursor=found.next_cursor)


@router.get("/runs", operation_id="list_runs", dependencies=READS, responses=answers(422, 503))
def list_runs(
    database: DatabaseDep,
    cursor: Name | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    item_id: Name | None = None,
    hardware: Name | None = None,
    night: NightDate | None = None,
    state: Annotated[list[RunState] | None, Query()] = None,
    verdict: Annotated[list[Verdict] | None, Query()] = None,
    controls: Annotated[bool | None, Query(description="Only controls, or none; both if left out.")] = None,
) -> Listing[RunOut]:
    """Runs, the newest order first."""
    found = runs.list_runs(
        database,
        after=cursor,
        limit=limit,
        item_id=item_id,
        hardware=hardware,
        night=night,
        states=state or (),
        verdicts=verdict or (),
        controls=controls,
    )
    return Listing(items=[RunOut.of(run) for run in found.runs], total=found.total, next_cursor=found.next_cursor)


@router.get("/runs/{run_id}", operation_id="get_run", dependencies=READS, responses=answers(404, 422, 503))
def get_run(database: DatabaseDep, run_id: Name) -> RunDetailOut:
    """One run: how far it is, and when it is finished its verdict, figures and evidence."""
    return RunDetailOut.of(runs.get_run(database, run_id))


@router.get("/nights", operation_id="list_nights", dependencies=READS, responses=answers(422, 503))
def list_nights(
    database: DatabaseDep, cursor: NightDate | None = None, limit: Annotated[int, Query(ge=1, le=366)] = 30
) -> Listing[NightOut]:
    """Nightly jobs, newest first."""
    found = nights.list_nights(database, before=cursor, limit=limit)
    return Listing(items=[NightOut.of(n) for n in found.nights], total=found.total, next_cursor=found.next_cursor)


@router.get("/nights/{date}", operation_id="get_night", dependencies=READS, responses=answers(404, 422, 503))
def get_night(database: DatabaseDep, date: NightDate) -> NightOut:
    """One nightly job with its summary."""
    return NightOut.of(nights.get_night(database, date))


@router.get(
    "/nights/{date}/report",
    operation_id="get_night_report",
    response_class=HTMLResponse,
    dependencies=READS,
    responses={**answers(404, 422, 503), 200: {"content": {"text/html": {}, "application/json": {}}}},
)
def get_night_report(database: DatabaseDep, date: NightDate, format: Literal["html", "json"] = "html") -> Any:
    """A night as a page with its plots, or as JSON with the figures behind them."""
    report = reporting.report_of(database, date)
    return JSONResponse(report.content) if format == "json" else HTMLResponse(reporting.as_html(report))


def _plain(run: Run) -> dict[str, Any]:
    """What a list shows of a run."""
    kept = run.figures or {}
    told = ("figures", "flags", "detail")
    values = {name: getattr(run, name) for name in RunOut.model_fields if name not in told}
    return {
        **values,
        "figures": kept.get("figures"),
        "flags": kept.get("flags") or [],
        "detail": kept.get("detail") or "",
    }
