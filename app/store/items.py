"""Items and their kernels: reading, adding, changing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, insert, or_, text
from sqlmodel import Session, col, select, update

from app.models import IdSequenceRow, ItemRow, KernelRow
from app.records import Item
from app.store.rows import item_of, kernel_row, values_of
from app.vocabulary import ItemKind, ItemStatus

_START_SEQUENCE = text("INSERT INTO id_sequence (prefix, last) VALUES (:prefix, 0) ON CONFLICT (prefix) DO NOTHING")


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the items that a list holds, and how many there are in all."""

    items: list[Item]
    total: int


def get(session: Session, item_id: str) -> Item | None:
    """The item of that id in whatever status, or None."""
    found = session.exec(select(ItemRow, KernelRow).join(KernelRow, isouter=True).where(ItemRow.id == item_id)).first()
    return item_of(*found) if found else None


def page(
    session: Session,
    *,
    after: str | None,
    limit: int,
    kinds: Iterable[ItemKind] = (),
    statuses: Iterable[ItemStatus] = (),
    section: str | None = None,
    family: str | None = None,
) -> Page:
    """Up to `limit` items in id order after the id `after`, and the number of all that match."""
    tests: list[ColumnElement[bool]] = []
    if kinds := list(kinds):
        tests.append(col(ItemRow.kind).in_(kinds))
    if statuses := list(statuses):
        tests.append(col(ItemRow.status).in_(statuses))
    if section is not None:
        tests.append(col(ItemRow.section) == section)
    if family is not None:
        tests.append(col(ItemRow.family) == family)
    total = session.exec(select(func.count()).select_from(ItemRow).where(*tests)).one()
    query = select(ItemRow, KernelRow).join(KernelRow, isouter=True).where(*tests).order_by(col(ItemRow.id))
    if after is not None:
        query = query.where(col(ItemRow.id) > after)
    return Page([item_of(row, kernel) for row, kernel in session.exec(query.limit(limit))], total)


def with_text(session: Session, kind: ItemKind | None, content_hash: str) -> str | None:
    """Id of an item (of that kind, where one is given) that has that very text and is not retired, or None."""
    query = select(ItemRow.id).where(ItemRow.content_hash == content_hash, ItemRow.status != ItemStatus.RETIRED)
    if kind is not None:
        query = query.where(ItemRow.kind == kind)
    return session.exec(query.order_by(col(ItemRow.id))).first()


def existing(session: Session, item_ids: Iterable[str]) -> set[str]:
    """Those of the ids that an item has, in whatever status."""
    return set(session.exec(select(ItemRow.id).where(col(ItemRow.id).in_(list(item_ids)))).all())


def mentioning(session: Session, item_ids: Iterable[str]) -> list[str]:
    """Ids of items, retired ones aside, whose text holds one of the ids."""
    tests = [col(ItemRow.text).contains(item_id, autoescape=True) for item_id in item_ids]
    query = select(ItemRow.id).where(ItemRow.status != ItemStatus.RETIRED, or_(*tests)).order_by(col(ItemRow.id))
    return list(session.exec(query).all())


def source_hashes(session: Session) -> dict[str, str | None]:
    """Item id -> hash of the text as its source last gave it."""
    return dict(session.exec(select(ItemRow.id, ItemRow.source_hash)).all())


def last_position(session: Session, kind: ItemKind) -> int:
    """The highest position of a kind; -1 if there is none."""
    found = session.exec(select(func.max(ItemRow.position)).where(ItemRow.kind == kind)).one()
    return -1 if found is None else found


def add(session: Session, item: Item, *, changed_in: int, source_hash: str | None = None) -> None:
    """Adds an item with its kernel, if it has one."""
    session.add(ItemRow(**values_of(item), source_hash=source_hash, changed_in=changed_in))
    session.flush()
    kernel = kernel_row(item)
    if kernel is not None:
        session.add(kernel)


def add_all(session: Session, added: Sequence[Item], *, changed_in: int) -> None:
    """Adds many items with their kernels in two statements; each text is its own source."""
    rows = [{**values_of(item), "source_hash": item.content_hash, "changed_in": changed_in} for item in added]
    kernels = [kernel.model_dump() for item in added if (kernel := kernel_row(item)) is not None]
    for table, values in ((ItemRow, rows), (KernelRow, kernels)):
        if values:
            session.execute(insert(table), values)


def change(session: Session, item: Item, *, changed_in: int, source_hash: str | None = None) -> None:
    """Writes the present state of an item that exists; a given `source_hash` replaces the old one."""
    row = session.get_one(ItemRow, item.id)
    for name, value in values_of(item).items():
        # Counters move by events only; writing back what was read would lose the votes of others.
        if name not in ("helpful", "harmful"):
            setattr(row, name, value)
    row.changed_in = changed_in
    if source_hash is not None:
        row.source_hash = source_hash
    kernel = kernel_row(item)
    if kernel is not None:
        session.merge(kernel)


def touch(session: Session, item_ids: Iterable[str], *, changed_in: int) -> None:
    """Marks items as changed, so that every server loads them again."""
    for item_id in item_ids:
        session.exec(update(ItemRow).where(col(ItemRow.id) == item_id).values(changed_in=changed_in))


def move_counters(session: Session, item_id: str, *, helpful: int, harmful: int, changed_in: int) -> tuple[int, int]:
    """Adds to the counters in the database itself, so that no concurrent vote is lost; the counters afterwards."""
    moved = (
        update(ItemRow)
        .where(col(ItemRow.id) == item_id)
        .values(helpful=col(ItemRow.helpful) + helpful, harmful=col(ItemRow.harmful) + harmful, changed_in=changed_in)
        .returning(col(ItemRow.helpful), col(ItemRow.harmful))
    )
    found = session.exec(moved).one()
    return int(found[0]), int(found[1])


def next_id(session: Session, prefix: str) -> str:
    """A fresh id under that prefix; numbers go up and are never given twice."""
    number = _last_number(session, prefix) + 1
    _note(session, prefix, number)
    return f"{prefix}-{number:05d}"


def note_ids(session: Session, item_ids: Iterable[str]) -> None:
    """Moves the sequences past ids that came from a source."""
    highest: dict[str, int] = {}
    for item_id in item_ids:
        prefix, _, number = item_id.rpartition("-")
        if number.isascii() and number.isdigit():
            highest[prefix] = max(highest.get(prefix, 0), int(number))
    for prefix, highest_number in highest.items():
        if highest_number > _last_number(session, prefix):
            _note(session, prefix, highest_number)


def counts(session: Session) -> Mapping[str, int]:
    """Kind -> number of items that are not retired."""
    query = select(ItemRow.kind, func.count()).where(ItemRow.status != ItemStatus.RETIRED).group_by(ItemRow.kind)
    return dict(session.exec(query).all())


def _last_number(session: Session, prefix: str) -> int:
    """The last number under a prefix; its row is locked afterwards, so that two writers cannot both take the next."""
    session.connection().execute(_START_SEQUENCE, {"prefix": prefix})
    return session.get_one(IdSequenceRow, prefix, with_for_update=True, populate_existing=True).last


def _note(session: Session, prefix: str, number: int) -> None:
    session.exec(update(IdSequenceRow).where(col(IdSequenceRow.prefix) == prefix).values(last=number))
