"""Routes of items: list, read, create, edit, retire, history, revert."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Self

from fastapi import APIRouter, Query, status
from pydantic import BaseModel, Field, model_validator

from app.api.deps import CuratorDep, DatabaseDep
from app.api.guard import CURATES, READS, CallerDep, require
from app.api.problem_details import answers
from app.api.schemas import CounterEventOut, ItemOut, Listing, Request, RevisionOut
from app.api.texts import CodeText, ItemText, JsonObject, Name, Note
from app.services import curation, listing
from app.vocabulary import ItemKind, ItemStatus, Scope

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
    applies_when: JsonObject | None = None


class NewItem(ItemFields):
    """An item to create."""

    text: ItemText
    kind: ItemKind = ItemKind.BULLET
    kernel_source: CodeText | None = Field(default=None, description="The code of a kernel, and only of a kernel.")
    provenance: JsonObject | None = None
    proposed_by: Name | None = Field(default=None, description="The agent that proposes it; it then waits as pending.")


class ItemEdit(ItemFields):
    """Changes to an item; a field that is left out stays as it is."""

    version: int = Field(ge=1, description="The version that is edited; 409 if the item has moved on.")
    text: ItemText | None = None
    kernel_source: CodeText | None = None
    status: ItemStatus | None = None
    note: Note | None = Field(default=None, description="Why; kept in the history.")


class Reversion(Request):
    """A request to bring back an earlier state, or to take back one change of the counters."""

    version: int | None = Field(default=None, ge=1, description="The version that the item is at; 409 otherwise.")
    to_version: int | None = Field(default=None, ge=1)
    event: Name | None = Field(default=None, description="uid of the counter event to take back.")
    note: Note | None = None

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        state = self.version is not None and self.to_version is not None
        if state == (self.event is not None) or (self.event is None and not state):
            raise ValueError("send version and to_version, or event")
        return self


class CountersOut(BaseModel):
    """An item's counters, in all and by reader."""

    helpful: int
    harmful: int
    by_reader: dict[str, dict[str, int]]


@router.get("", operation_id="list_items", dependencies=READS, responses=answers(422, 503))
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
    "",
    status_code=status.HTTP_201_CREATED,
    operation_id="create_item",
    dependencies=[require(Scope.CONTRIBUTE, Scope.CURATE)],
    responses=answers(400, 409, 413, 422, 503),
)
def create_item(curator: CuratorDep, caller: CallerDep, new: NewItem) -> ItemOut:
    """Creates an item; its id is given by the service. Without the scope curate it waits as pending."""
    fields = new.model_dump(exclude={"text", "kind", "proposed_by"}, exclude_none=True)
    origin = fields.get("provenance", {})
    if not caller.may(Scope.CURATE):
        origin = {**origin, "proposed_by": new.proposed_by or caller.name, "key": caller.name}
    elif new.proposed_by is not None:
        origin = {**origin, "proposed_by": new.proposed_by}
    if "proposed_by" in origin:
        # What agents add is ranked only after a curator made it active.
        fields = {**fields, "status": ItemStatus.PENDING, "provenance": origin}
    return ItemOut.of(curation.create(curator, new.kind, new.text, fields))


@router.get("/{item_id}", operation_id="get_item", dependencies=READS, responses=answers(404, 422, 503))
def get_item(database: DatabaseDep, item_id: Name) -> ItemOut:
    """One item, retired ones too; one that was merged away says where its id leads."""
    item = ItemOut.of(listing.get_item(database, item_id))
    return item.model_copy(update={"merged_into": listing.merged_into(database, item_id)})


@router.patch(
    "/{item_id}", operation_id="edit_item", dependencies=CURATES, responses=answers(400, 404, 409, 413, 422, 503)
)
def edit_item(curator: CuratorDep, item_id: Name, edit: ItemEdit) -> ItemOut:
    """Edits the fields that are given; `null` clears a field that may be empty."""
    changes = edit.model_dump(exclude={"version", "note"}, exclude_unset=True)
    required = ("text", "kernel_source", "status", "section")
    changes = {name: value for name, value in changes.items() if value is not None or name not in required}
    return ItemOut.of(curation.edit(curator, item_id, edit.version, changes, edit.note))


@router.delete("/{item_id}", operation_id="retire_item", dependencies=CURATES, responses=answers(404, 422, 503))
def retire_item(curator: CuratorDep, item_id: Name, note: Note | None = None) -> ItemOut:
    """Retires an item: it is in no answer any more; its id is never given again and its history stays."""
    return ItemOut.of(curation.retire(curator, item_id, note))


@router.get("/{item_id}/history", operation_id="get_history", dependencies=READS, responses=answers(404, 422, 503))
def get_history(database: DatabaseDep, item_id: Name) -> Listing[RevisionOut | CounterEventOut]:
    """Every state of an item and every change of its counters, oldest first."""
    revisions, events = curation.item_history(database, item_id)
    entries: list[RevisionOut | CounterEventOut] = [RevisionOut.of(revision) for revision in revisions]
    entries.extend(CounterEventOut.of(event) for event in events)
    entries.sort(key=_at)
    return Listing(items=entries, total=len(entries))


@router.post(
    "/{item_id}/revert", operation_id="revert_item", dependencies=CURATES, responses=answers(400, 404, 409, 422, 503)
)
def revert_item(curator: CuratorDep, item_id: Name, reversion: Reversion) -> ItemOut:
    """Brings back an earlier version's state as a new version, or takes back one counter event."""
    if reversion.event is not None:
        return ItemOut.of(curation.revert_event(curator, item_id, reversion.event, reversion.note))
    version, to_version = reversion.version or 0, reversion.to_version or 0
    return ItemOut.of(curation.revert(curator, item_id, version, to_version, reversion.note))


@router.get("/{item_id}/counters", operation_id="get_counters", dependencies=READS, responses=answers(404, 422, 503))
def get_counters(database: DatabaseDep, item_id: Name) -> CountersOut:
    """An item's counters, in all and by reader."""
    item = listing.get_item(database, item_id)
    found = listing.counters_by_reader(database, item_id)
    readers = {reader: {"helpful": votes[0], "harmful": votes[1]} for reader, votes in found.items()}
    return CountersOut(helpful=item.helpful, harmful=item.harmful, by_reader=readers)


def _at(entry: RevisionOut | CounterEventOut) -> datetime:
    return entry.at
