"""Kernels: listing them with what was measured, reading and adding one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from app.errors import DuplicateItem, InvalidInput, UnknownItem, UnknownProblem
from app.memory.identity import normalised
from app.memory.kernels import kernel_code
from app.records import Item, KernelCode, Run
from app.services.changes import Changes
from app.services.curation import Curator
from app.services.deriving import require_same_model, vector_of
from app.store import corpus, items, kernels
from app.store.database import Database
from app.verification.static_check import check_source
from app.vocabulary import ItemKind, ItemStatus, KernelLanguage


@dataclass(frozen=True, slots=True)
class NewKernel:
    """A kernel that somebody offers. `language` and `entry_point` are read off the source; given ones have to agree."""

    source_problem: str
    source: str
    text: str
    language: KernelLanguage | None = None
    entry_point: str | None = None
    section: str | None = None
    claimed_speedup: Decimal | None = None
    proposed_by: str | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StandingKernel:
    """A kernel with its latest run on each kind of hardware."""

    item: Item
    measured: Mapping[str, Run]


@dataclass(frozen=True, slots=True)
class AddedKernel:
    """What came of an offer: the kernel, whether it is new, and what the evaluator's reading says of its source."""

    kernel: StandingKernel
    is_new: bool
    warnings: Sequence[str]


@dataclass(frozen=True, slots=True)
class KernelPage:
    """Part of a list of kernels."""

    kernels: list[StandingKernel]
    total: int
    next_cursor: str | None


def list_kernels(
    database: Database,
    *,
    after: str | None,
    limit: int,
    statuses: Iterable[ItemStatus] = (),
    language: KernelLanguage | None = None,
    source_problem: str | None = None,
    family: str | None = None,
) -> KernelPage:
    """Up to `limit` kernels in id order, from the one after `after`."""
    with database.read() as session:
        page = kernels.page(
            session,
            after=after,
            limit=limit,
            statuses=statuses,
            language=language,
            source_problem=source_problem,
            family=family,
        )
        runs = kernels.latest_runs(session, [item.id for item in page.items])
    shown = [StandingKernel(item, runs.get(item.id, {})) for item in page.items]
    return KernelPage(shown, page.total, shown[-1].item.id if len(shown) == limit else None)


def get_kernel(database: Database, item_id: str) -> StandingKernel:
    """One kernel in whatever status; UnknownItem where the id is another kind's."""
    with database.read() as session:
        item = items.get(session, item_id)
        if item is None or item.kernel is None:
            is_other = "" if item is None else f" It is a {item.kind}: see /v1/bullets/{item_id}."
            raise UnknownItem(f"There is no kernel {item_id!r}.{is_other}")
        return StandingKernel(item, kernels.latest_runs(session, [item_id]).get(item_id, {}))


def add_kernel(curator: Curator, offered: NewKernel) -> AddedKernel:
    """A new kernel; the known one where its very code is there for that problem already, unchanged.

    UnknownProblem, InvalidInput where what is declared contradicts the source, DuplicateItem where the code belongs to
    a kernel of another problem.
    """
    code = _agreeing(offered)
    require_same_model(curator.database, curator.embedder)
    text = normalised(offered.text)
    vectors = {text: vector_of(curator.embedder, text)}
    with curator.database.write() as session:
        changes = Changes(session, curator.embedder, curator.actor, vectors)
        problem = corpus.facts(session).problems.get(offered.source_problem)
        if problem is None:
            raise UnknownProblem(
                f"There is no problem {offered.source_problem!r}. GET /v1/problems lists them; import its file first."
            )
        twin = kernels.with_code(session, code.content_hash)
        if twin is None:
            fields = {**_fields(offered), "family": problem.family, "kernel_source": code.source}
            item = changes.create(ItemKind.KERNEL, text, fields)
        elif twin[1] != problem.id:
            raise DuplicateItem(f"{twin[0]} has this very code, for the problem {twin[1]}.", id=twin[0])
        else:
            item = changes.known(twin[0])
        runs = kernels.latest_runs(session, [item.id])
    return AddedKernel(StandingKernel(item, runs.get(item.id, {})), twin is None, source_warnings(code))


def source_warnings(code: KernelCode) -> list[str]:
    """What the evaluator's reading says against a source: why it would be refused, or what a person should look at."""
    report = check_source(code.source.encode(), code.entry_point)
    unreadable = [f"would be refused: {report.unreadable}"] if report.unreadable else []
    refused = [f"would be refused: {reason}" for reason in report.rejections]
    no_kernel = [] if report.kernels or unreadable else ["declares no Triton or CUDA kernel"]
    return [*unreadable, *refused, *no_kernel, *(f"flagged: {flag}" for flag in report.flags)]


def _agreeing(offered: NewKernel) -> KernelCode:
    code = kernel_code(offered.source)
    for name, declared, found in (
        ("language", offered.language, code.language),
        ("entry_point", offered.entry_point, code.entry_point),
    ):
        if declared is not None and declared != found:
            raise InvalidInput(f"{name}: the source says {found!s}, the request says {declared!s}. Leave it out.")
    return code


def _fields(offered: NewKernel) -> dict[str, Any]:
    """What is said of the item; what an agent proposes waits until a curator makes it active."""
    origin, status = dict(offered.provenance), ItemStatus.ACTIVE
    if offered.proposed_by is not None:
        origin, status = {**origin, "proposed_by": offered.proposed_by}, ItemStatus.PENDING
    return {
        "section": offered.section,
        "source_problem": offered.source_problem,
        "claimed_speedup": offered.claimed_speedup,
        "status": status,
        "provenance": origin,
    }
