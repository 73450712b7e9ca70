"""Routes of curator operations in batches."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.api.bullets import ItemFields
from app.api.deps import CuratorDep
from app.api.guard import CURATES
from app.api.problem_details import answers
from app.api.schemas import ItemOut, Request
from app.api.texts import CodeText, ItemText, JsonObject, Name, Note
from app.services import operations
from app.services.operations import BatchResult, Operation
from app.vocabulary import ItemKind, ItemStatus, OperationKind, Signal

router = APIRouter(prefix="/v1/operations", tags=["curation"], dependencies=CURATES)


class Add(ItemFields):
    """Adds an item."""

    op: Literal["ADD"]
    text: ItemText
    kind: ItemKind = ItemKind.BULLET
    kernel_source: CodeText | None = None
    provenance: JsonObject | None = None


class Update(ItemFields):
    """Changes an item; fields that are left out stay."""

    op: Literal["UPDATE"]
    id: Name
    version: int | None = Field(default=None, ge=1, description="If given, the version that is edited.")
    text: ItemText | None = None
    status: ItemStatus | None = None
    note: Note | None = None


class Merge(Request):
    """Makes one item of several: counters add up, old ids lead to it."""

    op: Literal["MERGE"]
    ids: list[Name] = Field(min_length=2, max_length=50)
    into: Name = Field(description="The item that stays; one of `ids`.")
    text: ItemText | None = Field(default=None, description="Its new text; the old one stays if left out.")
    note: Note | None = None


class Delete(Request):
    """Retires an item."""

    op: Literal["DELETE"]
    id: Name
    note: Note | None = None


class Tag(Request):
    """Votes as a curator; a negative count takes votes away."""

    op: Literal["TAG"]
    id: Name
    signal: Signal
    count: int = Field(default=1, ge=-1000, le=1000)
    note: Note | None = None


AnyOperation = Annotated[Add | Update | Merge | Delete | Tag, Field(discriminator="op")]


class BatchIn(Request):
    """Operations that are applied together or not at all."""

    operations: list[AnyOperation] = Field(min_length=1, max_length=500)
    dry_run: bool = Field(default=False, description="Show what would come out, and change nothing.")


class ResultOut(BaseModel):
    """An item as an operation left it."""

    op: OperationKind
    item: ItemOut


class BatchOut(BaseModel):
    """What a batch did, or would do."""

    batch_id: str = Field(description="Undo the batch with it.")
    dry_run: bool
    results: list[ResultOut]


@router.post("", operation_id="apply_operations", responses=answers(400, 404, 409, 413, 422, 503))
def apply_operations(curator: CuratorDep, batch: BatchIn) -> BatchOut:
    """Applies ADD, UPDATE, MERGE, DELETE and TAG in one transaction."""
    return _shown(operations.apply(curator, [operation_of(op) for op in batch.operations], dry_run=batch.dry_run))


@router.post("/{batch_id}/revert", operation_id="undo_operations", responses=answers(404, 409, 422, 503))
def undo_operations(curator: CuratorDep, batch_id: Name) -> BatchOut:
    """Takes a batch back: texts, states, counters and redirects; 409 if an item was changed since."""
    return _shown(operations.undo(curator, batch_id))


def operation_of(given: AnyOperation) -> Operation:
    """The operation as services take it."""
    values = given.model_dump(exclude_unset=True)
    plain = {name: values.pop(name) for name in list(values) if name in Operation.__slots__ and name != "fields"}
    kept = {name: value for name, value in values.items() if value is not None or name not in ("status", "section")}
    return Operation(**{**plain, "op": OperationKind(given.op), "fields": kept})


def _shown(result: BatchResult) -> BatchOut:
    shown = [ResultOut(op=entry.op, item=ItemOut.of(entry.item)) for entry in result.results]
    return BatchOut(batch_id=result.batch, dry_run=result.dry_run, results=shown)
