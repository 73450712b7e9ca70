"""Routes of feedback and of the contexts that it speaks of."""

from datetime import datetime
from typing import Annotated, Any, Self

from fastapi import APIRouter, Header
from pydantic import BaseModel, Field, model_validator

from app.api.deps import ServicesDep
from app.api.guard import READS, require
from app.api.problem_details import answers
from app.api.schemas import Request, TaskIn
from app.api.texts import Name, TaskText
from app.errors import UnknownItem
from app.records import Caller
from app.services.feedback import FeedbackWish, Vote, cited_votes, give
from app.services.listing import get_context
from app.vocabulary import Scope, Signal

router = APIRouter(prefix="/v1", tags=["feedback"])


class VoteIn(Request):
    """What a reader says of one item."""

    id: Name = Field(examples=["str-00012"])
    signal: Signal


class OutcomeIn(Request):
    """What came of the attempt."""

    success: bool | None = None
    speedup: float | None = Field(default=None, ge=0, allow_inf_nan=False, description="Speedup over eager (a ratio).")
    note: Name | None = None


class FeedbackIn(Request):
    """Votes on items that were shown: by id, or as an answer that cites them."""

    context_id: Name | None = Field(default=None, description="The context that was shown.")
    retrieval_id: Name | None = Field(default=None, description="The search that was answered.")
    reader: Name | None = None
    task: TaskIn | None = None
    outcome: OutcomeIn | None = None
    items: list[VoteIn] = Field(default=[], max_length=1000)
    answer: TaskText | None = Field(default=None, description="An agent's whole answer; the ids in it are found.")
    answer_signal: Signal = Field(default=Signal.HELPFUL, description="What a citation in the answer means.")

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.context_id is not None and self.retrieval_id is not None:
            raise ValueError("send context_id or retrieval_id, not both")
        return self


class AppliedOut(BaseModel):
    """An item's counters after the vote."""

    id: str
    helpful: int
    harmful: int


class FeedbackOut(BaseModel):
    """What became of the feedback."""

    feedback_id: str
    applied: list[AppliedOut]
    unknown_ids: list[str] = Field(description="Ids that no item has; they counted nothing.")
    duplicate: bool = Field(description="The same feedback was counted before; this time it counted nothing.")
    notes: list[str]


class ContextRecordOut(BaseModel):
    """What was shown, to whom."""

    id: str
    policy: str
    reader: str | None
    task: dict[str, Any]
    items: list[str]
    tokens: int
    left_out: dict[str, int]
    at: datetime


Key = Annotated[Name | None, Header(description="Makes a repeated request count once.")]


@router.post("/feedback", operation_id="give_feedback", responses=answers(400, 409, 413, 422, 503))
def give_feedback(
    services: ServicesDep,
    said: FeedbackIn,
    caller: Annotated[Caller, require(Scope.FEEDBACK)],
    idempotency_key: Key = None,
) -> FeedbackOut:
    """Counts votes once: known ids are counted, unknown ones listed."""
    votes = [Vote(vote.id.lower(), vote.signal) for vote in said.items]
    if said.answer is not None:
        named = {vote.id for vote in votes}
        votes += [vote for vote in cited_votes(said.answer, said.answer_signal) if vote.id not in named]
    place = said.context_id or said.retrieval_id
    if place is not None:
        services.recorder.flush()
    given = give(
        services.database,
        services.embedder,
        FeedbackWish(
            votes=votes,
            actor=caller.name,
            reader=said.reader,
            context_id=place,
            task=said.task.model_dump(exclude_none=True) if said.task else None,
            outcome=said.outcome.model_dump(exclude_none=True) if said.outcome else None,
            idempotency_key=idempotency_key,
        ),
    )
    return FeedbackOut(
        feedback_id=given.feedback_id,
        applied=[AppliedOut(id=entry[0], helpful=entry[1], harmful=entry[2]) for entry in given.applied],
        unknown_ids=list(given.unknown_ids),
        duplicate=given.duplicate,
        notes=list(given.notes),
    )


@router.get(
    "/contexts/{context_id}", operation_id="get_context_record", dependencies=READS, responses=answers(404, 422, 503)
)
def get_context_record(services: ServicesDep, context_id: Name) -> ContextRecordOut:
    """What was shown under a context_id or retrieval_id."""
    services.recorder.flush()
    record = get_context(services.database, context_id)
    if record is None:
        raise UnknownItem(f"Nothing was shown under {context_id!r}.")
    return ContextRecordOut(
        id=record.id,
        policy=record.policy,
        reader=record.reader,
        task=dict(record.task),
        items=list(record.item_ids),
        tokens=record.tokens,
        left_out=dict(record.left_out),
        at=record.at,
    )
