"""Routes of items: list, read, create, edit, retire, history, revert."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any

from fastapi import APIRouter, Query, status
from pydantic import Field

from app.api.deps import CuratorDep, DatabaseDep
from app.api.problem_details import answers
from app.api.schemas import CounterEventOut, ItemOut, Listing, Request, RevisionOut
from app.api.texts import CodeText, ItemText, Name, Note
from app.services import curation, listing
from app.vocabulary import ItemKind, ItemStatus

router = APIRouter(prefix="/v1/bullets", tags=["items"])

FamilyName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Speedup = Annotated[Decimal, Field(ge=0, lt=1_000_000, max_digits=14, decimal_places=8)]


class ItemFields(Request):
    """What may be said of an item beside its text."""

    section: Name | None = None
    family: FamilyName | None = None
    source_problem: Name | None = Field(default=None, description="Id of the problem that the item was learned from.")
    claimed_speedup: Speedup | None = Field(default=None, description="Claimed speedup over eager (a ratio).")
    correctness: bool | None = None
    prohibition: bool | None = None
    text_without_figures: ItemText | None = None
    applies_when: dict[str, Any] | None = None


class NewItem(ItemFields):
    """An item to create."""

    text: ItemText
    kind: ItemKind = ItemKind.BULLET
    kernel_source: CodeText | None = Field(default=None, description="The code of a kernel, and only of a kernel.")
    provenance: dict[str, Any] | None = None


class ItemEdit(ItemFields):
    """Changes to an item; a field that is left out stays as it is."""

    version: int = Field(ge=1, description="The version that is edited; 409 if the item has moved on.")
    text: ItemText | None = None
    kernel_source: CodeText | None = None
    status: ItemStatus | None = None
    note: Note | None = Field(default=None, description="Why; kept in the history.")


class Reversion(Request):
    """A request to bring back an earlier state."""

    version: int = Field(ge=1, description="The version that the item is at; 409 if it has moved on.")
    to_version: int = Field(ge=1)
    note: Note | None = None


@router.get("", operation_id="list_items", responses=answers(422, 503))
def list_items(
    database: DatabaseDep,
    kind: Annotated[list[ItemKind] | None, Query()] = None,
    item_status: Annotated[list[ItemStatus] | None, Query(alias="status")] = None,
    section: Name | None = None,
    family: FamilyName | None = None,
    cursor: Name | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> Listing[ItemOut]:
    """Items in id order, of every status unless `status` is given."""
    page = listing.list_items(
        database,
        after=cursor,
        limit=limit,
        kinds=kind or (),
        statuses=item_status or (),
        section=section,
        family=family,
    )
    return Listing(items=[ItemOut.of(item) for item in page.items], total=page.total, next_cursor=page.next_cursor)


@router.post(
    "", status_code=status.HTTP_201_CREATED, operation_id="create_item", responses=answers(400, 409, 413, 422, 503)
)
def create_item(curator: CuratorDep, new: NewItem) -> ItemOut:
    """Creates an item; its id is given by the service."""
    fields = new.model_dump(exclude={"text", "kind"}, exclude_none=True)
    return ItemOut.of(curation.create(curator, new.kind, new.text, fields))


@router.get("/{item_id}", operation_id="get_item", responses=answers(404, 422, 503))
def get_item(database: DatabaseDep, item_id: Name) -> ItemOut:
    """One item, retired ones too."""
    return ItemOut.of(listing.get_item(database, item_id))


@router.patch("/{item_id}", operation_id="edit_item", responses=answers(400, 404, 409, 413, 422, 503))
def edit_item(curator: CuratorDep, item_id: Name, edit: ItemEdit) -> ItemOut:
    """Edits the fields that are given; `null` clears a field that may be empty."""
    changes = edit.model_dump(exclude={"version", "note"}, exclude_unset=True)
    required = ("text", "kernel_source", "status", "section")
    changes = {name: value for name, value in changes.items() if value is not None or name not in required}
    return ItemOut.of(curation.edit(curator, item_id, edit.version, changes, edit.note))


@router.delete("/{item_id}", operation_id="retire_item", responses=answers(404, 422, 503))
def retire_item(curator: CuratorDep, item_id: Name, note: Note | None = None) -> ItemOut:
    """Retires an item: it is in no answer any more; its id is never given again and its history stays."""
    return ItemOut.of(curation.retire(curator, item_id, note))


@router.get("/{item_id}/history", operation_id="get_history", responses=answers(404, 422, 503))
def get_history(database: DatabaseDep, item_id: Name) -> Listing[RevisionOut | CounterEventOut]:
    """Every state of an item and every change of its counters, oldest first."""
    revisions, events = curation.item_history(database, item_id)
    entries: list[RevisionOut | CounterEventOut] = [RevisionOut.of(revision) for revision in revisions]
    entries.extend(CounterEventOut.of(event) for event in events)
    entries.sort(key=_at)
    return Listing(items=entries, total=len(entries))


@router.post("/{item_id}/revert", operation_id="revert_item", responses=answers(400, 404, 409, 422, 503))
def revert_item(curator: CuratorDep, item_id: Name, reversion: Reversion) -> ItemOut:
    """Brings back an earlier version's state, as a new version; counters are not touched."""
    item = curation.revert(curator, item_id, reversion.version, reversion.to_version, reversion.note)
    return ItemOut.of(item)


def _at(entry: RevisionOut | CounterEventOut) -> datetime:
    return entry.at
