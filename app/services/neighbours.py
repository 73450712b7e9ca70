"""What stands around an item: what it refers to, what refers to it, and what it is likened to or at odds with."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.memory.references import referenced_ids
from app.records import Item, StoredFinding
from app.store import items, overview
from app.store.database import Database, Session


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The surroundings of one item."""

    refers_to: Sequence[Item]
    missing: Sequence[str]
    """Ids that the text names and no item has."""
    referred_by: Sequence[Item]
    findings: Sequence[StoredFinding]


MOST_REFERRERS = 50


def neighbours(database: Database, item: Item) -> Neighbours:
    """References in both directions, and the open findings that concern the item."""
    named = referenced_ids(item.text, own_id=item.id)
    with database.read() as session:
        found = _items(session, named)
        referring = [item_id for item_id in items.mentioning(session, [item.id]) if item_id != item.id]
        referred_by = [
            other
            for other in _items(session, referring[:MOST_REFERRERS])
            if item.id in referenced_ids(other.text, own_id=other.id)
        ]
        findings = overview.findings_naming(session, item.id)
    present = {other.id for other in found}
    return Neighbours(found, [item_id for item_id in named if item_id not in present], referred_by, findings)


def side_by_side(database: Database, item_ids: Sequence[str]) -> list[Item]:
    """Several items, for a person to compare; unknown ids are left out."""
    with database.read() as session:
        return _items(session, item_ids)


def _items(session: Session, item_ids: Sequence[str]) -> list[Item]:
    return [item for item_id in dict.fromkeys(item_ids) if (item := items.get(session, item_id)) is not None]
