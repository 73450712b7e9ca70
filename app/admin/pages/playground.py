"""The retrieval playground: what an agent would get, why, and whether it helped."""

import secrets
from typing import Annotated, Self

from fastapi import APIRouter, Form
from pydantic import Field, model_validator
from starlette.responses import Response

from app.admin.desk import Desk, DeskDep
from app.admin.forms import AdminForm
from app.admin.gate import DeskRoute, needs
from app.memory.policies import POLICIES
from app.records import Task
from app.services import feedback, listing
from app.services.playground import Trial, TrialWish, tried
from app.services.texts import Name, TaskText
from app.vocabulary import Scope, Signal

router = APIRouter(prefix="/admin/playground", route_class=DeskRoute)


class TrialForm(AdminForm):
    """A task, and how it is to be answered."""

    task: TaskText | None = None
    problem: Name | None = None
    reader: Name = "playground"
    policy: Name = "search"
    other_policy: Name | None = None
    token_budget: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    hardware: Name | None = None
    keep_own: bool = False

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.task is None and self.problem is None:
            raise ValueError("describe a task, paste its module, or choose a problem")
        return self

    def wish(self) -> TrialWish:
        """What is tried."""
        return TrialWish(
            task=Task(problem_id=self.problem, text=self.task),
            reader=self.reader,
            policy=self.policy,
            other_policy=self.other_policy,
            token_budget=self.token_budget,
            hardware=self.hardware,
            exclude_source_problem=not self.keep_own,
        )


class FeedbackForm(TrialForm):
    """What helped and what harmed, of the items that a trial showed."""

    retrieval_id: Name
    once: Name
    helpful: list[Name] = Field(default=[], max_length=200)
    harmful: list[Name] = Field(default=[], max_length=200)


@router.get("")
@needs(Scope.READ)
def playground(desk: DeskDep) -> Response:
    """A task to be described."""
    return _page(desk, TrialForm.model_construct(), None)


@router.post("")
@needs(Scope.READ)
def run(desk: DeskDep, form: Annotated[TrialForm, Form()]) -> Response:
    """Tries the task. Nothing is changed, so the answer comes without a detour."""
    return _page(desk, form, tried(desk.services, form.wish()))


@router.post("/feedback")
@needs(Scope.FEEDBACK)
def give_feedback(desk: DeskDep, form: Annotated[FeedbackForm, Form()]) -> Response:
    """Counts the votes, once however often the form is sent, and tries the task again."""
    votes = [feedback.Vote(item_id, Signal.HELPFUL) for item_id in form.helpful]
    votes += [feedback.Vote(item_id, Signal.HARMFUL) for item_id in form.harmful]
    wish = feedback.FeedbackWish(
        votes=votes,
        actor=desk.name,
        reader=form.reader,
        context_id=form.retrieval_id,
        idempotency_key=f"desk:{form.once}",
    )
    given = feedback.give(desk.services.database, desk.services.embedder, wish)
    return _page(desk, form, tried(desk.services, form.wish()), given)


def _page(desk: Desk, form: TrialForm, trial: Trial | None, given: feedback.FeedbackAnswer | None = None) -> Response:
    problems, readers = listing.problems_and_readers(desk.services.database)
    return desk.page(
        "playground.html",
        form=form,
        trial=trial,
        given=given,
        once=secrets.token_hex(16),
        problems=problems,
        readers=readers,
        policies=list(POLICIES.values()),
    )
