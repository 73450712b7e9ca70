"""What happened to items: revisions of their state, and events of their counters."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import func
from sqlmodel import Session, col, select

from app.models import CounterEventRow, ItemRevisionRow, ItemRow
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
    "demotions",
)
"""Fields of an item that its revisions keep as they are; status, claim, applies_when and code need a JSON form."""


def add_revision(session: Session, revision: Revision) -> None:
    """Keeps a state that an item has from now on."""
    values = {name: getattr(revision, name) for name in Revision.__slots__}
    session.add(ItemRevisionRow(**{**values, "state": dict(revision.state)}))


def add_event(session: Session, event: CounterEvent) -> None:
    """Appends one change of an item's counters."""
    session.add(CounterEventRow(**{name: getattr(event, name) for name in CounterEvent.__slots__}))


def put_revisions(session: Session, told: Iterable[Revision]) -> int:
    """Adds revisions that are not known yet; the number added."""
    known = set(session.exec(select(ItemRevisionRow.item_id, ItemRevisionRow.version)).all())
    fresh = [revision for revision in told if (revision.item_id, revision.version) not in known]
    for revision in fresh:
        add_revision(session, revision)
    return len(fresh)


def unknown_events(session: Session, told: Iterable[CounterEvent]) -> list[CounterEvent]:
    """Those of the events that are not known here, by their uid."""
    known = set(session.exec(select(CounterEventRow.uid)).all())
    return [event for event in told if event.uid not in known]


def revisions(session: Session, item_id: str) -> list[Revision]:
    """Every state of an item, oldest first."""
    query = select(ItemRevisionRow).where(ItemRevisionRow.item_id == item_id)
    return [Revision(**row.model_dump()) for row in session.exec(query.order_by(col(ItemRevisionRow.version)))]


def events(session: Session, item_id: str) -> list[CounterEvent]:
    """Every change of an item's counters, oldest first."""
    query = select(CounterEventRow).where(CounterEventRow.item_id == item_id)
    rows = session.exec(query.order_by(col(CounterEventRow.id)))
    return [CounterEvent(**row.model_dump(exclude={"id"})) for row in rows]


def event(session: Session, uid: str) -> CounterEvent | None:
    """One event, or None."""
    row = session.exec(select(CounterEventRow).where(CounterEventRow.uid == uid)).first()
    return CounterEvent(**row.model_dump(exclude={"id"})) if row else None


def is_taken_back(session: Session, uid: str) -> bool:
    """Whether an event was reverted."""
    return session.exec(select(CounterEventRow.id).where(CounterEventRow.reverts == uid)).first() is not None


def revisions_of(session: Session, batch: str) -> list[Revision]:
    """The revisions that a batch made, newest first."""
    query = select(ItemRevisionRow).where(ItemRevisionRow.batch == batch)
    rows = session.exec(query.order_by(col(ItemRevisionRow.version).desc(), col(ItemRevisionRow.item_id)))
    return [Revision(**row.model_dump()) for row in rows]


def events_of(session: Session, batch: str) -> list[CounterEvent]:
    """The counter events that a batch made."""
    query = select(CounterEventRow).where(CounterEventRow.batch == batch).order_by(col(CounterEventRow.id))
    return [CounterEvent(**row.model_dump(exclude={"id"})) for row in session.exec(query)]


def by_reader(session: Session, item_id: str) -> Mapping[str, tuple[int, int]]:
    """Reader -> (helpful, harmful) of one item; votes without a reader aside."""
    query = (
        select(CounterEventRow.reader, func.sum(CounterEventRow.helpful), func.sum(CounterEventRow.harmful))
        .where(CounterEventRow.item_id == item_id, col(CounterEventRow.reader).is_not(None))
        .group_by(col(CounterEventRow.reader))
    )
    return {reader or "": (int(helpful), int(harmful)) for reader, helpful, harmful in session.exec(query)}


def votes_of_readers(session: Session, *, changed_after: int) -> dict[str, dict[str, tuple[int, int]]]:
    """Item id -> reader -> (helpful, harmful), of items that changed after that corpus version and that readers voted
    on.
    """
    query = (
        select(
            CounterEventRow.item_id,
            CounterEventRow.reader,
            func.sum(CounterEventRow.helpful),
            func.sum(CounterEventRow.harmful),
        )
        .join(ItemRow, col(CounterEventRow.item_id) == ItemRow.id)
        .where(col(CounterEventRow.reader).is_not(None), col(ItemRow.changed_in) > changed_after)
        .group_by(col(CounterEventRow.item_id), col(CounterEventRow.reader))
    )
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for item_id, reader, helpful, harmful in session.exec(query):
        found.setdefault(item_id, {})[reader or ""] = (int(helpful), int(harmful))
    return found


def every_event(session: Session) -> Iterator[CounterEvent]:
    """Every event of every item, oldest first."""
    for row in session.exec(select(CounterEventRow).order_by(col(CounterEventRow.id))):
        yield CounterEvent(**row.model_dump(exclude={"id"}))


def every_revision(session: Session) -> Iterator[Revision]:
    """Every revision of every item."""
    query = select(ItemRevisionRow).order_by(col(ItemRevisionRow.item_id), col(ItemRevisionRow.version))
    for row in session.exec(query):
        yield Revision(**row.model_dump())


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
