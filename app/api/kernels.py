"""Routes of kernels: list, add, read. Their verification runs are among the routes of runs."""

from datetime import datetime
from typing import Annotated, Self

from fastapi import APIRouter, Query, Response, status
from pydantic import AfterValidator, BaseModel, Field

from app.api.bullets import FamilyName
from app.api.bullets import Speedup as ClaimedSpeedup
from app.api.deps import CuratorDep, DatabaseDep
from app.api.guard import READS, CallerDep, require
from app.api.problem_details import answers
from app.api.schemas import ItemOut, Listing, Request, Speedup
from app.api.texts import Clean, ItemText, JsonObject, Name, not_blank
from app.records import Caller, Run
from app.services import kernels
from app.services.kernels import AddedKernel, NewKernel, StandingKernel
from app.vocabulary import ItemStatus, KernelLanguage, Scope

router = APIRouter(prefix="/v1/kernels", tags=["kernels"])

LONGEST_SOURCE = 500_000
"""Characters of one kernel; hand-written and generated kernels alike stay far below."""

SourceText = Annotated[str, Field(max_length=LONGEST_SOURCE), Clean, AfterValidator(not_blank)]


class KernelIn(Request):
    """A kernel to add."""

    source_problem: Name = Field(description="Id of the problem that it solves.", examples=["L2_072"])
    source: SourceText = Field(description="Python source that defines ModelNew with a Triton or CUDA kernel.")
    text: ItemText = Field(description="What it does and why it is fast, for whoever reads the playbook.")
    language: KernelLanguage | None = Field(default=None, description="Read off the source; 422 where it contradicts.")
    entry_point: Name | None = Field(default=None, description="Read off the source; 422 where it contradicts.")
    section: Name | None = None
    claimed_speedup: ClaimedSpeedup | None = Field(default=None, description="Claimed speedup over eager (a ratio).")
    provenance: JsonObject | None = None
    proposed_by: Name | None = Field(default=None, description="The agent that proposes it; it then waits as pending.")

    def record(self, caller: Caller) -> NewKernel:
        """The kernel as services take it. Whoever may not curate is an agent that proposes."""
        origin, proposed_by = self.provenance or {}, self.proposed_by
        if not caller.may(Scope.CURATE):
            origin, proposed_by = {**origin, "key": caller.name}, proposed_by or caller.name
        values = self.model_dump(exclude={"provenance", "proposed_by"})
        return NewKernel(**values, provenance=origin, proposed_by=proposed_by)


class MeasuredOut(BaseModel):
    """The latest verification run on one kind of hardware."""

    hardware: str
    verdict: str = Field(description="See docs/verification.md; an imported run keeps the word it came with.")
    speedup: Speedup | None = Field(description="Median speedup over eager (a ratio); null where there is no figure.")
    at: datetime | None
    run_id: str

    @classmethod
    def every(cls, measured: dict[str, Run]) -> list[Self]:
        """The runs, by name of the hardware."""
        return [
            cls(hardware=hardware, verdict=run.verdict, speedup=run.speedup, at=run.finished_at, run_id=run.id)
            for hardware, run in sorted(measured.items())
            if run.verdict is not None
        ]


class KernelLine(BaseModel):
    """A kernel in a list: no source, and the first line of its text."""

    id: str
    status: ItemStatus
    source_problem: str | None
    family: str | None
    language: KernelLanguage
    entry_point: str
    title: str
    claimed_speedup: Speedup | None = Field(description="Speedup over eager as its source claims it (a ratio).")
    measured: list[MeasuredOut]
    helpful: int
    harmful: int
    version: int
    updated_at: datetime | None

    @classmethod
    def of(cls, kernel: StandingKernel) -> Self:
        """The line of a record."""
        item, code = kernel.item, kernel.item.kernel
        assert code is not None
        plain = ("id", "status", "source_problem", "family", "claimed_speedup", "helpful", "harmful", "version")
        return cls(
            **{name: getattr(item, name) for name in plain},
            language=code.language,
            entry_point=code.entry_point,
            title=next(iter(item.text.splitlines()), "")[:200],
            measured=MeasuredOut.every(dict(kernel.measured)),
            updated_at=item.updated_at,
        )


class KernelDetail(ItemOut):
    """A kernel with its source, and what was measured of it."""

    measured: list[MeasuredOut]
    warnings: list[str] = Field(description="What the evaluator's reading of the source says; it was not executed.")

    @classmethod
    def shown(cls, kernel: StandingKernel, warnings: list[str] | None = None) -> Self:
        """The kernel of a record."""
        assert kernel.item.kernel is not None
        found = kernels.source_warnings(kernel.item.kernel) if warnings is None else warnings
        plain = ItemOut.of(kernel.item).model_dump()
        return cls(**plain, measured=MeasuredOut.every(dict(kernel.measured)), warnings=found)


@router.get("", operation_id="list_kernels", dependencies=READS, responses=answers(422, 503))
def list_kernels(
    database: DatabaseDep,
    item_status: Annotated[list[ItemStatus] | None, Query(alias="status")] = None,
    language: KernelLanguage | None = None,
    source_problem: Name | None = None,
    family: FamilyName | None = None,
    cursor: Name | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> Listing[KernelLine]:
    """Kernels in id order, of every status unless `status` is given: what they claim and what was measured."""
    page = kernels.list_kernels(
        database,
        after=cursor,
        limit=limit,
        statuses=item_status or (),
        language=language,
        source_problem=source_problem,
        family=family,
    )
    lines = [KernelLine.of(kernel) for kernel in page.kernels]
    return Listing(items=lines, total=page.total, next_cursor=page.next_cursor)


@router.post(
    "",
    status_code=status.HTTP_201_CREATED,
    operation_id="add_kernel",
    dependencies=[require(Scope.CONTRIBUTE, Scope.CURATE)],
    responses={
        **answers(400, 409, 413, 422, 503),
        200: {"model": KernelDetail, "description": "This very code is there for that problem already"},
    },
)
def add_kernel(curator: CuratorDep, caller: CallerDep, new: KernelIn, response: Response) -> KernelDetail:
    """Adds a kernel; without the scope curate it waits as pending. The same code for the same problem is one kernel."""
    added: AddedKernel = kernels.add_kernel(curator, new.record(caller))
    response.status_code = status.HTTP_201_CREATED if added.is_new else status.HTTP_200_OK
    return KernelDetail.shown(added.kernel, list(added.warnings))


@router.get("/{item_id}", operation_id="get_kernel", dependencies=READS, responses=answers(404, 422, 503))
def get_kernel(database: DatabaseDep, item_id: Name) -> KernelDetail:
    """One kernel with its source and the latest run on each kind of hardware, retired ones too."""
    return KernelDetail.shown(kernels.get_kernel(database, item_id))
