"""One item: what it says, what became of it, and what stands around it."""

from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Form
from pydantic import Field, model_validator
from starlette.responses import Response

from app.admin.charts import Figure, counters_over_time
from app.admin.desk import Desk, DeskDep, as_csv
from app.admin.forms import AdminForm, Reason
from app.admin.gate import DeskRoute, needs
from app.admin.links import item_path
from app.admin.texts import poses
from app.errors import InvalidInput
from app.services import curation, listing
from app.services.neighbours import neighbours
from app.services.operations import Operation, apply
from app.services.texts import Name, Note
from app.services.timeline import Entry, counter_steps, timeline
from app.vocabulary import ItemStatus, OperationKind, Scope, Signal

router = APIRouter(prefix="/admin/items/{item_id}", route_class=DeskRoute)


@router.get("")
@needs(Scope.READ)
def item_page(desk: DeskDep, item_id: str) -> Response:
    """The item with its history, counters and surroundings."""
    database = desk.services.database
    item = listing.get_item(database, item_id)
    history = timeline(database, item_id)
    return desk.page(
        "item.html",
        item=item,
        merged_into=listing.merged_into(database, item_id),
        poses=poses(item.text),
        history=history,
        chart=_chart(history),
        by_reader=listing.counters_by_reader(database, item_id),
        around=neighbours(database, item),
    )


@router.get("/counters.csv")
@needs(Scope.READ)
def counters_csv(desk: DeskDep, item_id: str) -> Response:
    """The item's counters after each vote."""
    chart = _chart(timeline(desk.services.database, item_id))
    if chart is None:
        raise InvalidInput(f"{item_id} has no votes yet.")
    return as_csv("counters.csv", chart)


class VoteForm(AdminForm):
    """A curator's vote, or a vote taken away."""

    signal: Literal[Signal.HELPFUL, Signal.HARMFUL]
    count: int = Field(default=1, ge=-1000, le=1000)
    reason: Reason


@router.post("/votes")
@needs(Scope.CURATE)
def vote(desk: DeskDep, item_id: str, form: Annotated[VoteForm, Form()]) -> Response:
    """Moves a counter by hand; the reason stands in the history."""
    tag = Operation(OperationKind.TAG, id=item_id, signal=form.signal, count=form.count, note=form.reason)
    done = apply(desk.curator, [tag])
    moved = f"{form.signal} {form.count:+d}"
    return desk.to(item_path(item_id), f"{moved} on {item_id}.", done.batch)


class StatusForm(AdminForm):
    """Where an item shall stand."""

    status: ItemStatus
    reason: Note | None = None


@router.post("/status")
@needs(Scope.CURATE)
def set_status(desk: DeskDep, item_id: str, form: Annotated[StatusForm, Form()]) -> Response:
    """Approves, retires, quarantines or brings back an item."""
    if form.status is not ItemStatus.ACTIVE and not form.reason:
        raise InvalidInput("Taking an item out of use needs a reason.")
    update = Operation(OperationKind.UPDATE, id=item_id, fields={"status": form.status}, note=form.reason)
    done = apply(desk.curator, [update])
    return desk.to(item_path(item_id), f"{item_id} is {form.status} now.", done.batch)


class RevertForm(AdminForm):
    """An earlier state to bring back, or a vote to take back."""

    version: int | None = Field(default=None, ge=1)
    to_version: int | None = Field(default=None, ge=1)
    event: Name | None = None
    reason: Note | None = None

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        if (self.event is None) == (self.to_version is None or self.version is None):
            raise ValueError("name a version to bring back, or a vote to take back")
        return self


@router.post("/revert")
@needs(Scope.CURATE)
def revert(desk: DeskDep, item_id: str, form: Annotated[RevertForm, Form()]) -> Response:
    """Undoes one entry of the history."""
    said = _reverted(desk, item_id, form)
    return desk.to(item_path(item_id) + "#history", said)


def _reverted(desk: Desk, item_id: str, form: RevertForm) -> str:
    if form.event is not None:
        curation.revert_event(desk.curator, item_id, form.event, form.reason)
        return "The vote was taken back."
    version, to_version = form.version or 0, form.to_version or 0
    curation.revert(desk.curator, item_id, version, to_version, form.reason)
    return f"{item_id} is as it was at version {to_version}."


def _chart(history: list[Entry]) -> Figure | None:
    steps = counter_steps(history)
    return counters_over_time(steps, datetime.now(UTC)) if steps else None
