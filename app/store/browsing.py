"""Pages of the list of items, filtered and put in an order, for people who leaf through it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Float, cast, func, or_
from sqlmodel import Session, col, select

from app.models import ItemRow, KernelRow
from app.records import Item
from app.store.rows import item_of
from app.vocabulary import ItemKind, ItemStatus


class ItemOrder(StrEnum):
    """How a list of items is put in order; ids decide between equals."""

    ID = "id"
    NEWEST = "newest"
    HELPFUL = "helpful"
    HARMFUL = "harmful"
    SPEEDUP = "speedup"
    LONGEST = "longest"


_ORDERS: dict[ItemOrder, Sequence[ColumnElement[Any]]] = {
    ItemOrder.ID: (),
    ItemOrder.NEWEST: (col(ItemRow.updated_at).desc(),),
    ItemOrder.HELPFUL: (col(ItemRow.helpful).desc(),),
    ItemOrder.HARMFUL: (col(ItemRow.harmful).desc(),),
    ItemOrder.SPEEDUP: (cast(col(ItemRow.claimed_speedup), Float).desc().nulls_last(),),
    ItemOrder.LONGEST: (func.length(ItemRow.text).desc(),),
}


@dataclass(frozen=True, slots=True)
class ItemTest:
    """What the items of a list have in common; an empty field admits everything."""

    kinds: tuple[ItemKind, ...] = ()
    statuses: tuple[ItemStatus, ...] = ()
    section: str | None = None
    family: str | None = None
    words: str | None = None
    """Text that stands in the item's text or id, whatever the case."""


def browse(session: Session, test: ItemTest, order: ItemOrder, *, offset: int, limit: int) -> tuple[list[Item], int]:
    """Some of the items that pass, and how many do."""
    tests = _tests(test)
    total = session.exec(select(func.count()).select_from(ItemRow).where(*tests)).one()
    query = select(ItemRow, KernelRow).join(KernelRow, isouter=True).where(*tests)
    rows = session.exec(query.order_by(*_ORDERS[order], col(ItemRow.id)).offset(offset).limit(limit))
    return [item_of(row, kernel) for row, kernel in rows], total


def _tests(test: ItemTest) -> list[ColumnElement[bool]]:
    tests: list[ColumnElement[bool]] = []
    if test.kinds:
        tests.append(col(ItemRow.kind).in_(test.kinds))
    if test.statuses:
        tests.append(col(ItemRow.status).in_(test.statuses))
    if test.section is not None:
        tests.append(col(ItemRow.section) == test.section)
    if test.family is not None:
        tests.append(col(ItemRow.family) == test.family)
    if test.words is not None:
        fields = (col(ItemRow.text), col(ItemRow.id))
        tests.append(or_(*(field.icontains(test.words, autoescape=True) for field in fields)))
    return tests
