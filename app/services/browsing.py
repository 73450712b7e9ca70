"""The list of items as a person leafs through it: found by task, by words, or put in an order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.records import Item, Task
from app.services.assembly import Services
from app.services.ranking import Wish
from app.store import browsing, items, overview
from app.store.browsing import ItemOrder, ItemTest
from app.store.database import Database
from app.vocabulary import ItemKind, ItemStatus

__all__ = ["Found", "ItemOrder", "ItemTest", "Listed", "browse", "known_id", "ranked", "sections_and_families"]

PAGE = 50
MOST_RANKED = 50


@dataclass(frozen=True, slots=True)
class Found:
    """An item of the list; `score` where a ranking put it there."""

    item: Item
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """One page of the list."""

    found: list[Found]
    total: int
    page: int = 1
    pages: int = 1
    understood: Mapping[str, Any] = field(default_factory=dict)
    """What a ranking read out of the words."""
    notes: tuple[str, ...] = ()


def browse(database: Database, test: ItemTest, order: ItemOrder, page: int) -> Listed:
    """The items that pass, in an order."""
    with database.read() as session:
        found, total = browsing.browse(session, test, order, offset=(page - 1) * PAGE, limit=PAGE)
    return Listed([Found(item) for item in found], total, page, max(1, -(-total // PAGE)))


def ranked(services: Services, words: str, test: ItemTest) -> Listed:
    """The active items that help with a task, as the API ranks them."""
    filters: dict[str, Any] = {}
    if test.section is not None:
        filters["section"] = {"eq": test.section}
    if test.family is not None:
        filters["family"] = {"eq": test.family}
    wish = Wish(
        top_k=MOST_RANKED,
        threshold=services.settings.threshold,
        kinds=frozenset(test.kinds or ItemKind),
        filters=filters or None,
        exclude_source_problem=False,
    )
    answer = services.search.find(Task(text=words), wish)
    found = [Found(entry.item, entry.score) for entry in answer.results]
    return Listed(found, len(found), understood=answer.understood, notes=answer.notes)


def known_id(database: Database, text: str) -> str | None:
    """The text, where it is the id of an item."""
    with database.read() as session:
        return text if items.existing(session, [text]) else None


def sections_and_families(database: Database) -> tuple[list[str], list[str]]:
    """What items can be filtered by."""
    with database.read() as session:
        return overview.sections(session), overview.families(session)


def is_rankable(test: ItemTest) -> bool:
    """Whether a ranking could find these items: it holds active ones only."""
    return not test.statuses or ItemStatus.ACTIVE in test.statuses
