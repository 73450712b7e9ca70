"""Writing a new item, and editing one: with a preview, and with both texts where somebody else was quicker."""

import json
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Form
from pydantic import Field
from starlette.responses import Response

from app.admin.desk import Desk, DeskDep
from app.admin.forms import AdminForm, Family, Speedup
from app.admin.gate import DeskRoute, needs
from app.admin.links import item_path
from app.errors import Conflict, DuplicateItem, InvalidInput, PlaybookError, StaleVersion
from app.records import Item
from app.services import curation, listing
from app.services.texts import CodeText, ItemText, Name, Note
from app.services.timeline import Change, word_difference
from app.vocabulary import ItemKind, ItemStatus, Scope

router = APIRouter(prefix="/admin/items", route_class=DeskRoute)

YesNo = Literal["yes", "no"]


class ItemForm(AdminForm):
    """The fields of an item; a blank one is empty."""

    text: ItemText
    section: Name | None = None
    family: Family | None = None
    source_problem: Name | None = None
    claimed_speedup: Speedup | None = None
    correctness: YesNo | None = None
    prohibition: YesNo | None = None
    text_without_figures: ItemText | None = None
    applies_when: Annotated[str, Field(max_length=20_000)] | None = None
    kernel_source: CodeText | None = None
    intent: Literal["preview", "save"] = "save"

    def fields(self) -> dict[str, Any]:
        """What the form says of an item, its text and kind aside."""
        fields: dict[str, Any] = {
            "family": self.family,
            "source_problem": self.source_problem,
            "claimed_speedup": self.claimed_speedup,
            "correctness": _said(self.correctness),
            "prohibition": _said(self.prohibition),
            "text_without_figures": self.text_without_figures,
            "applies_when": _record(self.applies_when),
        }
        needed = {"section": self.section, "kernel_source": self.kernel_source}
        return fields | {name: value for name, value in needed.items() if value is not None}


class NewForm(ItemForm):
    """A new item."""

    kind: ItemKind = ItemKind.BULLET


class EditForm(ItemForm):
    """Changes to the item as it was at `version`."""

    version: int = Field(ge=1)
    note: Note | None = None

    @classmethod
    def of(cls, item: Item) -> Self:
        """A form that says what the item says."""
        return cls.model_construct(
            text=item.text,
            section=item.section,
            family=item.family,
            source_problem=item.source_problem,
            claimed_speedup=item.claimed_speedup,
            correctness=_told(item.correctness),
            prohibition=_told(item.prohibition),
            text_without_figures=item.text_without_figures,
            applies_when=None if item.applies_when is None else json.dumps(dict(item.applies_when), indent=1),
            kernel_source=item.kernel.source if item.kernel else None,
            version=item.version,
        )


@router.get("/new")
@needs(Scope.CONTRIBUTE)
def new_page(desk: DeskDep, kind: ItemKind = ItemKind.BULLET) -> Response:
    """A form for a new item."""
    form = NewForm.model_construct(kind=kind, text="")
    return desk.page("new.html", form=form, fault=None, preview=False)


@router.post("/new")
@needs(Scope.CONTRIBUTE)
def create(desk: DeskDep, form: Annotated[NewForm, Form()]) -> Response:
    """Adds an item; one by a key that may not curate waits as pending."""
    if form.intent == "preview":
        return desk.page("new.html", form=form, fault=None, preview=True)
    try:
        fields = form.fields() | {"provenance": {"proposed_by": desk.name, "by": "desk"}}
        if not desk.may(Scope.CURATE):
            fields["status"] = ItemStatus.PENDING
        item = curation.create(desk.curator, form.kind, form.text, fields)
    except (InvalidInput, Conflict) as fault:
        return desk.page("new.html", fault.status, form=form, fault=fault, preview=False)
    waits = "" if item.status is ItemStatus.ACTIVE else " It waits until a curator approves it."
    return desk.to(item_path(item.id), f"{item.id} was added.{waits}")


@router.get("/{item_id}/edit")
@needs(Scope.CURATE)
def edit_page(desk: DeskDep, item_id: str) -> Response:
    """A form with what the item says."""
    item = listing.get_item(desk.services.database, item_id)
    return _form(desk, item, EditForm.of(item))


@router.post("/{item_id}/edit")
@needs(Scope.CURATE)
def edit(desk: DeskDep, item_id: str, form: Annotated[EditForm, Form()]) -> Response:
    """Shows what an edit would change, or makes it. Where the item has moved on, both texts stand side by side."""
    item = listing.get_item(desk.services.database, item_id)
    try:
        if form.intent == "preview":
            return _form(desk, item, form, preview=curation.edited(item, {"text": form.text, **form.fields()}))
        edited = curation.edit(desk.curator, item_id, form.version, {"text": form.text, **form.fields()}, form.note)
    except StaleVersion as fault:
        return _form(desk, item, form, fault=fault, theirs=item)
    except (InvalidInput, DuplicateItem, Conflict) as fault:
        return _form(desk, item, form, fault=fault)
    said = f"{item_id} is at version {edited.version} now." if edited.version != form.version else "Nothing changed."
    return desk.to(item_path(item_id), said)


def _form(
    desk: Desk,
    item: Item,
    form: EditForm,
    *,
    preview: Item | None = None,
    fault: PlaybookError | None = None,
    theirs: Item | None = None,
) -> Response:
    """The form with what was typed, whatever came of it."""
    return desk.page(
        "edit.html",
        fault.status if fault else 200,
        item=item,
        form=form,
        preview=preview,
        changes=_changes(item, preview) if preview is not None else [],
        fault=fault,
        theirs=theirs,
        difference=list(word_difference(item.text, form.text)) if theirs is not None else [],
    )


_COMPARED = (
    "text",
    "section",
    "family",
    "source_problem",
    "claimed_speedup",
    "correctness",
    "prohibition",
    "text_without_figures",
    "applies_when",
)


def _changes(before: Item, after: Item) -> list[Change]:
    """Fields that an edit changes."""
    pairs = [(name, getattr(before, name), getattr(after, name)) for name in _COMPARED]
    if before.kernel is not None and after.kernel is not None:
        pairs.append(("kernel_source", before.kernel.source, after.kernel.source))
    return [Change(name, old, new) for name, old, new in pairs if not _same(old, new)]


def _same(old: object, new: object) -> bool:
    return old == new or (isinstance(old, Decimal) and isinstance(new, Decimal) and old == new)


def _said(choice: YesNo | None) -> bool | None:
    return None if choice is None else choice == "yes"


def _told(flag: bool | None) -> YesNo | None:
    return None if flag is None else "yes" if flag else "no"


def _record(text: str | None) -> Any:
    if text is None:
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise InvalidInput(f"applies when: this is not JSON ({fault}).") from fault
    if not isinstance(record, dict):
        raise InvalidInput("applies when: a JSON object is needed, such as {...}, or nothing at all.")
    return record
