"""Routes of problems, readers and their solo baselines."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from fastapi import Request as HttpRequest
from pydantic import BaseModel, Field, ValidationError

from app.api.deps import DatabaseDep
from app.api.guard import CURATES, READS
from app.api.problem_details import answers
from app.api.schemas import Listing, Request, Speedup
from app.api.texts import Name
from app.errors import InvalidInput
from app.services import listing, readers
from app.services.readers import ReaderBaselines, SoloRuns

router = APIRouter(prefix="/v1", tags=["facts"])


class ProblemOut(BaseModel):
    """Facts of a problem."""

    id: str
    origin: str
    level: int
    number: int
    name: str
    family: str
    sha256: str | None


class ReaderIn(Request):
    """What to know of a reader."""

    display_name: Name | None = None


class ReaderOut(BaseModel):
    """A reader."""

    name: str
    display_name: str | None


class SoloRunsIn(Request):
    """Runs of a reader without memory on one problem."""

    problem: Name
    speedup: float | None = Field(description="Mean speedup of these runs (a ratio); null where they failed.")
    runs: int = Field(default=1, ge=1, le=1_000_000)


class BaselinesIn(Request):
    """Solo runs of a reader."""

    baselines: list[SoloRunsIn] = Field(min_length=1, max_length=100_000)


class BaselineOut(BaseModel):
    """A mean speedup on a problem."""

    problem: str
    mean: Speedup
    runs: int | None


class AverageOut(BaseModel):
    """A mean speedup over problems of a family and level."""

    family: str
    level: int
    mean: Speedup


class BaselinesOut(BaseModel):
    """What a reader reaches alone."""

    reader: str
    baselines: list[BaselineOut]
    averages: list[AverageOut] = Field(description="As gates and estimates use them: imported, or derived.")


@router.get("/problems", operation_id="list_problems", dependencies=READS, responses=answers(503))
def list_problems(database: DatabaseDep) -> Listing[ProblemOut]:
    """Every known problem."""
    problems, _ = listing.problems_and_readers(database)
    shown = [ProblemOut(**{name: getattr(problem, name) for name in ProblemOut.model_fields}) for problem in problems]
    return Listing(items=shown, total=len(shown))


@router.get("/readers", operation_id="list_readers", dependencies=READS, responses=answers(503))
def list_readers(database: DatabaseDep) -> Listing[ReaderOut]:
    """Every known reader."""
    _, known = listing.problems_and_readers(database)
    shown = [ReaderOut(name=reader.name, display_name=reader.display_name) for reader in known]
    return Listing(items=shown, total=len(shown))


@router.put("/readers/{name}", operation_id="put_reader", dependencies=CURATES, responses=answers(400, 413, 422, 503))
def put_reader(database: DatabaseDep, name: Name, reader: ReaderIn) -> ReaderOut:
    """Adds a reader, or gives a known one a display name."""
    stored = readers.put_reader(database, name, reader.display_name)
    return ReaderOut(name=stored.name, display_name=stored.display_name)


async def _rows(request: HttpRequest) -> list[SoloRuns]:
    """Solo runs out of a JSON or CSV body."""
    body = await request.body()
    if request.headers.get("content-type", "").split(";")[0].strip() == "text/csv":
        try:
            return readers.rows_of_csv(body.decode("utf-8"))
        except UnicodeDecodeError as fault:
            raise InvalidInput("The CSV is not UTF-8 text.") from fault
    try:
        given = BaselinesIn.model_validate_json(body)
    except ValidationError as fault:
        first = fault.errors()[0]
        raise InvalidInput(f"body.{'.'.join(map(str, first['loc']))}: {first['msg']}") from fault
    return [readers.solo_runs(row.problem, row.speedup, row.runs) for row in given.baselines]


_BASELINES_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": BaselinesIn.model_json_schema(ref_template="#/components/schemas/{model}")},
            "text/csv": {"schema": {"type": "string"}, "example": "problem,speedup,runs\nL2_020,1.31,3\n"},
        },
    }
}


@router.put(
    "/readers/{name}/baselines",
    operation_id="put_baselines",
    dependencies=CURATES,
    responses=answers(413, 422, 503),
    openapi_extra=_BASELINES_BODY,
)
def put_baselines(database: DatabaseDep, name: Name, rows: Annotated[list[SoloRuns], Depends(_rows)]) -> BaselinesOut:
    """Sets the reader's solo baselines from JSON or CSV (problem, speedup, runs): all rows or none."""
    return _shown(readers.put_baselines(database, name, rows))


@router.get("/readers/{name}/baselines", operation_id="get_baselines", dependencies=READS, responses=answers(422, 503))
def get_baselines(database: DatabaseDep, name: Name) -> BaselinesOut:
    """What a reader reaches alone: by problem as measured, and averaged over family and level."""
    return _shown(readers.reader_baselines(database, name))


def _shown(found: ReaderBaselines) -> BaselinesOut:
    return BaselinesOut(
        reader=found.reader,
        baselines=[BaselineOut(problem=b.problem, mean=b.mean, runs=b.runs) for b in found.measured if b.problem],
        averages=[
            AverageOut(family=family, level=level, mean=mean) for (family, level), mean in found.averages.items()
        ],
    )
