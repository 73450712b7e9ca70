"""Lists and single rows, as they stand in the database."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.errors import UnknownItem
from app.records import Item, Problem, Reader
from app.store import corpus, items
from app.store.database import Database
from app.vocabulary import ItemKind, ItemStatus


@dataclass(frozen=True, slots=True)
class ItemPage:
    """Part of a list of items."""

    items: list[Item]
    total: int
    next_cursor: str | None


def list_items(
    database: Database,
    *,
    after: str | None,
    limit: int,
    kinds: Iterable[ItemKind] = (),
    statuses: Iterable[ItemStatus] = (),
    section: str | None = None,
    family: str | None = None,
) -> ItemPage:
    """Up to `limit` items in id order, from the one after `after`."""
    with database.read() as session:
        page = items.page(
            session, after=after, limit=limit, kinds=kinds, statuses=statuses, section=section, family=family
        )
    full = len(page.items) == limit
    return ItemPage(page.items, page.total, page.items[-1].id if full else None)


def get_item(database: Database, item_id: str) -> Item:
    """One item in whatever status."""
    with database.read() as session:
        item = items.get(session, item_id)
    if item is None:
        raise UnknownItem(f"There is no item {item_id!r}.")
    return item


def problems_and_readers(database: Database) -> tuple[list[Problem], list[Reader]]:
    """Every known problem and reader, by id and name."""
    with database.read() as session:
        facts = corpus.facts(session)
    return [facts.problems[key] for key in sorted(facts.problems)], [facts.readers[k] for k in sorted(facts.readers)]
