"""Lists and single rows, as they stand in the database."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.errors import UnknownItem
from app.records import ContextRecord, Item, Problem, Reader
from app.store import corpus, feedback, history, items, redirects
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


def get_context(database: Database, context_id: str) -> ContextRecord | None:
    """What was shown under an id, or None."""
    with database.read() as session:
        return feedback.context(session, context_id)


def merged_into(database: Database, item_id: str) -> str | None:
    """The item that an id leads to since it was merged away, or None."""
    with database.read() as session:
        return redirects.resolved(session, [item_id]).get(item_id)


def counters_by_reader(database: Database, item_id: str) -> Mapping[str, tuple[int, int]]:
    """Reader -> (helpful, harmful) of one item."""
    get_item(database, item_id)
    with database.read() as session:
        return history.by_reader(session, item_id)
