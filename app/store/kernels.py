"""Kernels: pages of them, which code is known, what was measured last."""

from collections.abc import Iterable, Mapping

from sqlalchemy import ColumnElement, func
from sqlmodel import Session, col, select

from app.models import ItemRow, KernelRow
from app.records import Run
from app.store.items import Page
from app.store.rows import item_of
from app.store.runs import telling
from app.vocabulary import ItemStatus, KernelLanguage


def page(
    session: Session,
    *,
    after: str | None,
    limit: int,
    statuses: Iterable[ItemStatus] = (),
    language: KernelLanguage | None = None,
    source_problem: str | None = None,
    family: str | None = None,
) -> Page:
    """Up to `limit` kernels in id order after the id `after`, and the number of all that match."""
    tests: list[ColumnElement[bool]] = []
    if statuses := list(statuses):
        tests.append(col(ItemRow.status).in_(statuses))
    if language is not None:
        tests.append(col(KernelRow.language) == language)
    if source_problem is not None:
        tests.append(col(ItemRow.source_problem) == source_problem)
    if family is not None:
        tests.append(col(ItemRow.family) == family)
    total = session.exec(select(func.count()).select_from(ItemRow).join(KernelRow).where(*tests)).one()
    query = select(ItemRow, KernelRow).join(KernelRow).where(*tests).order_by(col(ItemRow.id))
    if after is not None:
        query = query.where(col(ItemRow.id) > after)
    return Page([item_of(row, kernel) for row, kernel in session.exec(query.limit(limit))], total)


def with_code(session: Session, content_hash: str) -> tuple[str, str | None] | None:
    """Id and source problem of a kernel with that very code that is not retired, or None."""
    query = (
        select(ItemRow.id, ItemRow.source_problem)
        .join(KernelRow)
        .where(KernelRow.content_hash == content_hash, ItemRow.status != ItemStatus.RETIRED)
        .order_by(col(ItemRow.id))
    )
    found = session.exec(query).first()
    return None if found is None else (found[0], found[1])


def latest_runs(session: Session, item_ids: Iterable[str]) -> Mapping[str, Mapping[str, Run]]:
    """Item id -> hardware -> latest finished run that says something of the kernel as it is now."""
    latest: dict[str, dict[str, Run]] = {}
    for run in telling(session, item_ids=item_ids):
        if run.item_id is not None:
            latest.setdefault(run.item_id, {})[run.hardware] = run
    return latest
