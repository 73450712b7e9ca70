"""Route of searches."""

from typing import Annotated, Any, Self

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field, model_validator

from app.api.deps import ServicesDep
from app.api.guard import READS
from app.api.problem_details import answers
from app.api.schemas import Request, Speedup, TaskIn
from app.api.texts import JsonObject, Name, TaskText
from app.records import Task
from app.services.ranking import Ranked, Wish
from app.vocabulary import ItemKind

router = APIRouter(prefix="/v1", tags=["retrieval"], dependencies=READS)


class SearchIn(Request):
    """What to search for. Either `query` or `task`."""

    query: TaskText | None = Field(default=None, description="The task in words; short for task.text.")
    task: TaskIn | None = None
    reader: Name | None = Field(default=None, description="The model that will read the items.")
    top_k: int = Field(default=10, ge=1, le=200)
    threshold: float | None = Field(default=None, ge=0, le=1, description="Lowest score; 0 filters nothing.")
    filters: JsonObject | None = Field(
        default=None, examples=[{"kind": {"eq": "bullet"}, "helpful": {"gte": 3}}], description="See docs/retrieval.md."
    )
    token_budget: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    exclude_source_problem: bool = Field(default=True, description="Leave out what was learned from this very problem.")
    diversify: bool = Field(default=True, description="Collapse near-duplicates.")
    hardware: Name | None = Field(default=None, examples=["NVIDIA H200"])
    explain: bool = Field(default=False, description="Show the factors whose product each score is.")

    @model_validator(mode="after")
    def _one_question(self) -> Self:
        if (self.query is None) == (self.task is None):
            raise ValueError("send either query or task")
        return self

    def asked(self) -> Task:
        """The task that is asked about."""
        return self.task.record() if self.task is not None else Task(text=self.query)


class VerificationOut(BaseModel):
    """The latest verification on the asker's hardware."""

    hardware: str
    verdict: str
    speedup: Speedup | None


class ResultOut(BaseModel):
    """A ranked item."""

    id: str
    kind: ItemKind
    section: str
    text: str
    helpful: int
    harmful: int
    score: float = Field(description="Absolute, comparable between queries, in [0, 1].")
    score_details: dict[str, float] | None = Field(description="Factors whose product is the score; with `explain`.")
    family: str | None
    source_problem: str | None
    speedup: Speedup | None = Field(description="Claimed speedup over eager (a ratio).")
    verification: VerificationOut | None


class SearchOut(BaseModel):
    """The answer to a search."""

    results: list[ResultOut]
    total_candidates: int = Field(description="Items that passed the filters.")
    left_out: dict[str, int] = Field(description="Reason -> number of items that were left out for it.")
    tokens: int = Field(description="Estimated tokens of the results' texts.")
    retrieval_id: str
    understood: dict[str, Any] = Field(description="What was read out of the task.")
    notes: list[str]


@router.post("/search", operation_id="search", response_model=SearchOut, responses=answers(400, 413, 422, 503))
def search(services: ServicesDep, asked: SearchIn) -> Response:
    """The items that help with a task, best first."""
    wish = Wish(
        top_k=asked.top_k,
        threshold=services.settings.threshold if asked.threshold is None else asked.threshold,
        filters=asked.filters,
        reader=asked.reader,
        hardware=asked.hardware,
        exclude_source_problem=asked.exclude_source_problem,
        diversify=asked.diversify,
    )
    found = services.search.find(asked.asked(), wish, asked.token_budget)
    answer = SearchOut(
        results=[_result(entry, explain=asked.explain) for entry in found.results],
        total_candidates=found.total_candidates,
        left_out={reason.value: count for reason, count in found.left_out.items()},
        tokens=found.tokens,
        retrieval_id=found.retrieval_id,
        understood=dict(found.understood),
        notes=list(found.notes),
    )
    # Written here: the framework would walk through the whole answer twice more.
    return Response(answer.model_dump_json(), media_type="application/json")


def _result(entry: Ranked, *, explain: bool) -> ResultOut:
    item, run = entry.item, entry.measured
    return ResultOut(
        id=item.id,
        kind=item.kind,
        section=item.section,
        text=item.text,
        helpful=item.helpful,
        harmful=item.harmful,
        score=entry.score,
        score_details=dict(entry.parts) if explain else None,
        family=item.family,
        source_problem=item.source_problem,
        speedup=item.claimed_speedup,
        verification=VerificationOut(hardware=run.hardware, verdict=run.verdict, speedup=run.speedup) if run else None,
    )
