"""What happened to items: revisions of their state, and events of their counters."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import func
from sqlmodel import Session, col, select

from app.models import CounterEventRow, ItemRevisionRow
from app.records import CounterEvent, Item, Revision

EDITABLE = (
    "section",
    "position",
    "text",
    "text_without_figures",
    "correctness",
    "prohibition",
    "damage",
    "family",
    "source_problem",
    "claim_rank",
)
"""Fields of an item that its revisions keep as they are; status, claim, applies_when and code need a JSON form."""


def add_revision(session: Session, revision: Revision) -> None:
    """Keeps a state that an item has from now on."""
    values = {name: getattr(revision, name) for name in Revision.__slots__}
    session.add(ItemRevisionRow(**{**values, "state": dict(revision.state)}))


def add_event(session: Session, event: CounterEvent) -> None:
    """Appends one change of an item's counters."""
    session.add(CounterEventRow(**{name: getattr(event, name) for name in CounterEvent.__slots__}))


def revisions(session: Session, item_id: str) -> list[Revision]:
    """Every state of an item, oldest first."""
    query = select(ItemRevisionRow).where(ItemRevisionRow.item_id == item_id)
    return [Revision(**row.model_dump()) for row in session.exec(query.order_by(col(ItemRevisionRow.version)))]


def events(session: Session, item_id: str) -> list[CounterEvent]:
    """Every change of an item's counters, oldest first."""
    query = select(CounterEventRow).where(CounterEventRow.item_id == item_id)
    rows = session.exec(query.order_by(col(CounterEventRow.id)))
    return [CounterEvent(**row.model_dump(exclude={"id"})) for row in rows]


def sums(session: Session, actor: str | None = None) -> Mapping[str, tuple[int, int]]:
    """Item id -> (helpful, harmful) summed over its events, of one actor or of all."""
    query = select(
        CounterEventRow.item_id, func.sum(CounterEventRow.helpful), func.sum(CounterEventRow.harmful)
    ).group_by(CounterEventRow.item_id)
    if actor is not None:
        query = query.where(CounterEventRow.actor == actor)
    return {item_id: (int(helpful), int(harmful)) for item_id, helpful, harmful in session.exec(query)}


def state_of(item: Item) -> dict[str, Any]:
    """What an edit can change of an item, as JSON can keep it (decimals as text)."""
    state = {name: getattr(item, name) for name in EDITABLE}
    claimed = item.claimed_speedup
    return {
        **state,
        "status": item.status.value,
        "claimed_speedup": None if claimed is None else format(claimed, "f"),
        "applies_when": None if item.applies_when is None else dict(item.applies_when),
        "kernel_source": item.kernel.source if item.kernel else None,
    }
