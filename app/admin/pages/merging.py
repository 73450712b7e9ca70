"""Items side by side, and making one of them."""

from typing import Annotated

from fastapi import APIRouter, Form, Query
from starlette.responses import Response

from app.admin.desk import DeskDep
from app.admin.forms import AdminForm, Ids, Reason
from app.admin.gate import DeskRoute, needs
from app.admin.links import item_path
from app.errors import InvalidInput
from app.services.findings import settle
from app.services.neighbours import side_by_side
from app.services.operations import Operation, apply
from app.services.texts import ItemText, Name
from app.services.timeline import word_difference
from app.vocabulary import OperationKind, Scope

router = APIRouter(prefix="/admin/merge", route_class=DeskRoute)

MOST = 12
"""Items that a page can show beside each other."""


@router.get("")
@needs(Scope.READ)
def compare(desk: DeskDep, ids: Annotated[list[str], Query(max_length=MOST)], finding: str | None = None) -> Response:
    """The items beside each other, with a form that merges them."""
    items = side_by_side(desk.services.database, ids)
    if len(items) < 2:
        raise InvalidInput("Name at least two items that exist.")
    pieces = list(word_difference(items[0].text, items[1].text)) if len(items) == 2 else []
    best = max(items, key=lambda item: (item.helpful - item.harmful, len(item.text)))
    return desk.page("merge.html", items=items, pieces=pieces, best=best, finding=finding)


class MergeForm(AdminForm):
    """Which of the items stays, and what it says afterwards."""

    ids: Ids
    into: Name
    text: ItemText | None = None
    reason: Reason
    finding: Name | None = None


@router.post("")
@needs(Scope.CURATE)
def merge(desk: DeskDep, form: Annotated[MergeForm, Form()]) -> Response:
    """Merges: counters add up, the other ids lead to the one that stays."""
    if form.into not in form.ids:
        raise InvalidInput("Choose which of the items stays.")
    merging = Operation(OperationKind.MERGE, ids=form.ids, into=form.into, text=form.text, note=form.reason)
    if form.finding is not None:
        done = settle(desk.curator, form.finding, merging, form.reason)
    else:
        done = apply(desk.curator, [merging])
    gone = ", ".join(item_id for item_id in form.ids if item_id != form.into)
    return desk.to(item_path(form.into), f"{gone} merged into {form.into}.", done.batch)
