"""The corpus as a whole: its version, and loading what can be ranked or shown."""

from dataclasses import dataclass

from sqlmodel import Session, col, select, update

from app.models import (
    BaselineRow,
    CorpusStateRow,
    ItemRow,
    KernelRow,
    ProblemRow,
    ReaderRow,
    RecordedRankingRow,
    WordingRow,
)
from app.records import Baseline, Item, Measurement, Problem, Reader, Run
from app.standing import counting
from app.store import runs
from app.store.database import Database
from app.store.rows import item_of


@dataclass(frozen=True, slots=True)
class CorpusState:
    """Where the corpus stands, and which sentence model its vectors come from."""

    identity: str
    version: int
    facts_version: int
    model_id: str | None
    dimension: int | None


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything but the items."""

    problems: dict[str, Problem]
    readers: dict[str, Reader]
    baselines: list[Baseline]
    rankings: dict[tuple[str, str], tuple[str, ...]]
    wording: dict[str, str]
    measurements: dict[str, dict[str, Measurement]]
    """Hardware -> item id -> the run that counts."""


def state(session: Session) -> CorpusState:
    """The present state of the corpus."""
    row = session.exec(select(CorpusStateRow)).one()
    return CorpusState(row.identity, row.version, row.facts_version, row.model_id, row.dimension)


def version(database: Database) -> int:
    """The present corpus version alone; every answer begins with it."""
    return int(database.scalar("SELECT version FROM corpus_state") or 0)


def lock(session: Session) -> None:
    """Makes this writer the only one until its commit, so that what it reads stays true. On SQLite it is anyway."""
    session.exec(select(CorpusStateRow).with_for_update()).one()


def advance(session: Session, *, facts: bool = False) -> int:
    """Moves the corpus to its next version and returns it; `facts` says that more than items changed.

    The row stays locked until the commit, so versions are committed in their order.
    """
    table = CorpusStateRow
    changes = {"version": col(table.version) + 1}
    if facts:
        changes["facts_version"] = col(table.version) + 1
    session.exec(update(table).values(**changes))
    return session.exec(select(table.version)).one()


def set_model(session: Session, model_id: str | None, dimension: int | None) -> None:
    """Notes which sentence model the vectors come from."""
    session.exec(update(CorpusStateRow).values(model_id=model_id, dimension=dimension))


def items_since(session: Session, version: int) -> list[Item]:
    """Items of every status that changed after that corpus version, kernels with their code, in id order."""
    query = (
        select(ItemRow, KernelRow)
        .join(KernelRow, isouter=True)
        .where(col(ItemRow.changed_in) > version)
        .order_by(col(ItemRow.id))
    )
    return [item_of(row, kernel) for row, kernel in session.exec(query)]


def facts(session: Session) -> Facts:
    """Problems, readers, baselines, recorded rankings, wording and latest measurements."""
    rankings: dict[tuple[str, str], tuple[str, ...]] = {}
    for ranked in session.exec(select(RecordedRankingRow).order_by(col(RecordedRankingRow.place))):
        key = (ranked.source, ranked.problem)
        rankings[key] = (*rankings.get(key, ()), ranked.item_id)
    return Facts(
        problems={row.id: Problem(**row.model_dump()) for row in session.exec(select(ProblemRow))},
        readers={row.name: Reader(**row.model_dump()) for row in session.exec(select(ReaderRow))},
        baselines=[Baseline(**row.model_dump(exclude={"id"})) for row in session.exec(select(BaselineRow))],
        rankings=rankings,
        wording={row.place: row.phrase for row in session.exec(select(WordingRow))},
        measurements=_measurements(session),
    )


def _measurements(session: Session) -> dict[str, dict[str, Measurement]]:
    demoted = dict(session.exec(select(ItemRow.id, ItemRow.demotions).where(col(ItemRow.demotions).is_not(None))).all())
    histories: dict[tuple[str, str], list[Run]] = {}
    for run in runs.telling(session):
        if run.item_id is not None:
            histories.setdefault((run.hardware, run.item_id), []).append(run)
    counted: dict[str, dict[str, Measurement]] = {}
    for (hardware, item_id), history in histories.items():
        run = counting(history, is_demoted=hardware in (demoted.get(item_id) or {}))
        found = Measurement(hardware, run.verdict or "", run.speedup, run.finished_at)
        counted.setdefault(hardware, {})[item_id] = found
    return counted
