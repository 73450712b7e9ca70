"""A page of the queue of findings, each with the items that it speaks of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.records import Item, StoredFinding
from app.services.findings import list_findings
from app.store import items, overview
from app.store.database import Database
from app.vocabulary import FindingKind, FindingState

PAGE = 20
MOST_SHOWN = 6
"""Items of one finding that are shown with it."""


@dataclass(frozen=True, slots=True)
class Queued:
    """A finding with the first of its items."""

    finding: StoredFinding
    items: Sequence[Item]
    more: int

    @property
    def is_pair(self) -> bool:
        """Whether its items can be looked at beside each other."""
        return 2 <= len(self.finding.item_ids) <= 2 * MOST_SHOWN


@dataclass(frozen=True, slots=True)
class QueuePage:
    """Part of the queue."""

    entries: Sequence[Queued]
    total: int
    page: int
    pages: int
    open_by_kind: Mapping[str, int]


def queue(database: Database, state: FindingState, kinds: Sequence[FindingKind], page: int) -> QueuePage:
    """Findings of a state, in the order of their kinds."""
    found = list_findings(database, state=state, kinds=kinds)
    part = found[(page - 1) * PAGE : page * PAGE]
    with database.read() as session:
        wanted = {item_id for finding in part for item_id in finding.item_ids[:MOST_SHOWN]}
        known = {item_id: items.get(session, item_id) for item_id in wanted}
        counts = overview.open_findings(session)
    entries = []
    for finding in part:
        shown = [item for item_id in finding.item_ids[:MOST_SHOWN] if (item := known[item_id]) is not None]
        entries.append(Queued(finding, shown, len(finding.item_ids) - len(shown)))
    return QueuePage(entries, len(found), page, max(1, -(-len(found) // PAGE)), counts)
