"""The list of items, and what can be done to several at once."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query
from pydantic import BaseModel, BeforeValidator, Field
from starlette.responses import Response

from app.admin.desk import DeskDep
from app.admin.forms import AdminForm, Ids, Reason, blank_is_none, chosen
from app.admin.gate import DeskRoute, needs
from app.admin.links import item_path, link, local
from app.services import bulk
from app.services.browsing import ItemOrder, ItemTest, browse, is_rankable, known_id, ranked, sections_and_families
from app.services.bulk import BulkAction
from app.services.texts import Clean, Name
from app.vocabulary import ItemKind, ItemStatus, Scope

router = APIRouter(prefix="/admin/items", route_class=DeskRoute)


class Asked(BaseModel):
    """What the list is asked for."""

    q: Annotated[str, Field(max_length=20_000), Clean] = ""
    how: Literal["ranked", "words"] = "ranked"
    kind: Annotated[list[ItemKind], BeforeValidator(chosen)] = []
    status: Annotated[list[ItemStatus], BeforeValidator(chosen)] = []
    section: Annotated[Name | None, BeforeValidator(blank_is_none)] = None
    family: Annotated[Name | None, BeforeValidator(blank_is_none)] = None
    sort: ItemOrder = ItemOrder.ID
    page: int = Field(default=1, ge=1, le=100_000)

    def test(self) -> ItemTest:
        """The filter."""
        words = self.q.strip() or None if self.how == "words" else None
        return ItemTest(tuple(self.kind), tuple(self.status), self.section, self.family, words)

    def query(self) -> dict[str, object]:
        """The list's address, without its page."""
        values = self.model_dump(mode="json", exclude={"page"})
        return {name: value for name, value in values.items() if value != Asked.model_fields[name].default}


@router.get("")
@needs(Scope.READ)
def items(desk: DeskDep, asked: Annotated[Asked, Query()]) -> Response:
    """Items found by task or words, filtered and sorted."""
    database, words, test = desk.services.database, asked.q.strip(), asked.test()
    jump = known_id(database, words.lower()) if words else None
    if jump is not None:
        return desk.to(item_path(jump))
    is_ranked = bool(words) and asked.how == "ranked" and is_rankable(test)
    listed = ranked(desk.services, words, test) if is_ranked else browse(database, test, asked.sort, asked.page)
    sections, families = sections_and_families(database)
    return desk.page(
        "items.html",
        asked=asked,
        listed=listed,
        is_ranked=is_ranked,
        not_rankable=bool(words) and asked.how == "ranked" and not is_ranked,
        sections=sections,
        families=families,
        here=link("/admin/items", asked.query(), page=asked.page if asked.page > 1 else None),
    )


class Bulk(AdminForm):
    """One thing to do to several items. Without `confirmed` it is only shown."""

    ids: Ids
    action: BulkAction
    section: Name | None = None
    reason: Reason | None = None
    confirmed: bool = False
    back: str = "/admin/items"


@router.post("/bulk")
@needs(Scope.CURATE)
def bulk_action(desk: DeskDep, form: Annotated[Bulk, Form()]) -> Response:
    """Shows what a bulk action would do, and does it once it is confirmed."""
    wish = bulk.BulkWish(form.action, tuple(form.ids), form.section, form.reason)
    back = local(form.back)
    if form.action is BulkAction.SECTION and form.section is None:
        sections, _ = sections_and_families(desk.services.database)
        return desk.page("section.html", form=form, back=back, sections=sections)
    if not form.confirmed:
        planned = bulk.planned(desk.curator, wish)
        return desk.page("bulk.html", form=form, planned=planned, back=back)
    done = bulk.carried_out(desk.curator, wish)
    count = len(done.results)
    return desk.to(back, f"{count} item{'s' if count != 1 else ''}: {form.action.done}.", done.batch)


class Undo(AdminForm):
    """The way back after an undo."""

    back: str = "/admin/items"


@router.post("/batches/{batch}/undo")
@needs(Scope.CURATE)
def undo(desk: DeskDep, batch: str, form: Annotated[Undo, Form()]) -> Response:
    """Takes a batch back."""
    undone = bulk.taken_back(desk.curator, batch)
    return desk.to(local(form.back), f"Taken back: {len(undone.results)} items are as they were before.")
