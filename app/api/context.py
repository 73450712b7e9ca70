"""Routes of contexts and policies."""

from typing import Annotated

from fastapi import APIRouter, Header, Response
from pydantic import BaseModel, Field

from app.api.deps import ServicesDep
from app.api.guard import READS
from app.api.problem_details import answers
from app.api.schemas import Request, TaskIn
from app.api.texts import Name
from app.memory.policies import POLICIES
from app.services.context import ContextWish

router = APIRouter(prefix="/v1", tags=["retrieval"], dependencies=READS)


class ContextIn(Request):
    """Which context to render."""

    task: TaskIn
    reader: Name = Field(description="The model that will read the context.", examples=["claude-opus-5-5"])
    policy: Name = Field(default="search", description="What is shown and how; see GET /v1/policies.")
    token_budget: Annotated[int, Field(ge=1, le=10_000_000)] | None = Field(
        default=None, description="Most tokens of the text; whole items are left out until it fits."
    )
    hardware: Name | None = Field(default=None, examples=["NVIDIA H200"])
    exclude_source_problem: bool = Field(default=False, description="Leave out all that was learned from this problem.")


class LeftOutOut(BaseModel):
    """An item that was considered and left out."""

    id: str
    reason: str
    detail: str


class ContextOut(BaseModel):
    """A rendered context."""

    context_id: str
    policy: str
    reader: str
    text: str
    items: list[str] = Field(description="Ids in the order in which they are shown.")
    tokens: int = Field(description="Estimated tokens of the text.")
    left_out: dict[str, int] = Field(description="Reason -> number of items that were left out for it.")
    explanations: list[LeftOutOut] = Field(description="Each item that was left out, and why.")
    notes: list[str]


class PolicyOut(BaseModel):
    """A policy."""

    name: str
    shows: str


@router.post(
    "/context",
    operation_id="render_context",
    responses={**answers(400, 413, 422, 503), 200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    response_model=ContextOut,
)
def render_context(
    services: ServicesDep, asked: ContextIn, accept: Annotated[str, Header(include_in_schema=False)] = "*/*"
) -> ContextOut | Response:
    """The context that a policy gives a reader for a task; with `Accept: text/plain` the text alone."""
    context = services.contexts.render(
        ContextWish(
            task=asked.task.record(),
            reader=asked.reader,
            policy=asked.policy,
            token_budget=asked.token_budget,
            hardware=asked.hardware,
            exclude_source_problem=asked.exclude_source_problem,
        )
    )
    if accept.split(";")[0].strip() == "text/plain":
        return Response(
            context.text, media_type="text/plain; charset=utf-8", headers={"X-Context-ID": context.context_id}
        )
    return ContextOut(
        context_id=context.context_id,
        policy=context.policy,
        reader=context.reader,
        text=context.text,
        items=list(context.item_ids),
        tokens=context.tokens,
        left_out=context.left_out_counts,
        explanations=[LeftOutOut(id=e.item_id, reason=e.reason.value, detail=e.detail) for e in context.left_out],
        notes=list(context.notes),
    )


@router.get("/policies", operation_id="list_policies")
def list_policies() -> list[PolicyOut]:
    """Every policy and what it shows."""
    return [PolicyOut(name=policy.name, shows=policy.shows) for policy in POLICIES.values()]
