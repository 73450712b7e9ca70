"""One action on several items: shown before it is done, done as one batch, undone as one."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.errors import InvalidInput
from app.records import Item
from app.services.curation import Curator
from app.services.listing import get_item
from app.services.operations import BatchResult, Operation, apply, undo
from app.vocabulary import ItemStatus, OperationKind


class BulkAction(StrEnum):
    """What can be done to several items at once."""

    APPROVE = "approve"
    RETIRE = "retire"
    SECTION = "section"

    @property
    def done(self) -> str:
        """What it did, in words."""
        return {"approve": "approved", "retire": "retired", "section": "moved to another section"}[self.value]


@dataclass(frozen=True, slots=True)
class BulkWish:
    """An action and the items that it concerns."""

    action: BulkAction
    ids: tuple[str, ...]
    section: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What an action does to one item."""

    item: Item
    before: str
    after: str

    @property
    def changes(self) -> bool:
        """Whether it does anything."""
        return self.before != self.after


def planned(curator: Curator, wish: BulkWish) -> list[Step]:
    """What the action would do, item by item; tried against the database, and without effect."""
    before = {item_id: get_item(curator.database, item_id) for item_id in dict.fromkeys(wish.ids)}
    tried = apply(curator, _operations(wish), dry_run=True)
    return [
        Step(before[result.item.id], *_told(wish.action, before[result.item.id], result.item))
        for result in tried.results
    ]


def carried_out(curator: Curator, wish: BulkWish) -> BatchResult:
    """Does the action to all of the items, or to none."""
    return apply(curator, _operations(wish))


def taken_back(curator: Curator, batch: str) -> BatchResult:
    """Undoes a batch."""
    return undo(curator, batch)


def _operations(wish: BulkWish) -> Sequence[Operation]:
    fields: dict[str, Any] = {}
    match wish.action:
        case BulkAction.APPROVE:
            fields = {"status": ItemStatus.ACTIVE}
        case BulkAction.SECTION:
            if wish.section is None:
                raise InvalidInput("Name the section that the items go to.")
            fields = {"section": wish.section}
    kind = OperationKind.DELETE if wish.action is BulkAction.RETIRE else OperationKind.UPDATE
    return [Operation(kind, id=item_id, fields=fields, note=wish.reason) for item_id in dict.fromkeys(wish.ids)]


def _told(action: BulkAction, before: Item, after: Item) -> tuple[str, str]:
    if action is BulkAction.SECTION:
        return before.section, after.section
    return before.status.value, after.status.value
