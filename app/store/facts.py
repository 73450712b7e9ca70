"""Problems, readers, baselines, recorded rankings, wording and verification runs: each writer says what it changed."""

from collections.abc import Iterable, Mapping

from sqlmodel import Session, col, delete, select

from app.models import (
    BaselineRow,
    ItemRow,
    ProblemRow,
    ReaderRow,
    RecordedRankingRow,
    VerificationRunRow,
    WordingRow,
)
from app.records import Baseline, Problem, Reader, RecordedRanking, Run
from app.store import clock
from app.store.runs import run_of
from app.vocabulary import RunState


def put_problems(session: Session, problems: Iterable[Problem]) -> int:
    """Adds problems that are new or whose facts changed; the number written."""
    known = {row.id: row for row in session.exec(select(ProblemRow))}
    written = 0
    for problem in problems:
        values = {name: getattr(problem, name) for name in Problem.__slots__}
        row = known.get(problem.id)
        if row is None or row.model_dump() != values:
            session.merge(ProblemRow(**values))
            written += 1
    return written


def put_readers(session: Session, readers: Iterable[Reader]) -> int:
    """Adds readers; a known display name is replaced, never taken away. The number written."""
    written = 0
    for reader in readers:
        row = session.get(ReaderRow, reader.name)
        if row is None:
            session.add(ReaderRow(name=reader.name, display_name=reader.display_name))
            session.flush()
            written += 1
        elif reader.display_name is not None and row.display_name != reader.display_name:
            row.display_name = reader.display_name
            written += 1
    return written


def put_baselines(session: Session, baselines: Iterable[Baseline]) -> int:
    """Sets each baseline at its place (reader and problem, or reader, family and level); the number written."""
    rows = {(row.reader, row.problem, row.family, row.level): row for row in session.exec(select(BaselineRow))}
    written = 0
    for baseline in baselines:
        values = {name: getattr(baseline, name) for name in Baseline.__slots__}
        row = rows.get((baseline.reader, baseline.problem, baseline.family, baseline.level))
        if row is None:
            row = BaselineRow(**values)
            session.add(row)
            rows[row.reader, row.problem, row.family, row.level] = row
            written += 1
        elif any(getattr(row, name) != value for name, value in values.items()):
            for name, value in values.items():
                setattr(row, name, value)
            written += 1
    return written


def put_rankings(session: Session, rankings: Iterable[RecordedRanking]) -> int:
    """Sets recorded rankings; the number of rankings written."""
    written = 0
    for ranking in rankings:
        place = (RecordedRankingRow.source == ranking.source, RecordedRankingRow.problem == ranking.problem)
        query = select(RecordedRankingRow.item_id).where(*place).order_by(col(RecordedRankingRow.place))
        if tuple(session.exec(query).all()) == ranking.item_ids:
            continue
        session.exec(delete(RecordedRankingRow).where(*place))  # type: ignore[arg-type]
        for number, item_id in enumerate(ranking.item_ids):
            session.add(
                RecordedRankingRow(source=ranking.source, problem=ranking.problem, place=number, item_id=item_id)
            )
        written += 1
    return written


def put_wording(session: Session, phrases: Mapping[str, str]) -> int:
    """Sets phrases by place; the number written."""
    written = 0
    for place, phrase in phrases.items():
        row = session.get(WordingRow, place)
        if row is None or row.phrase != phrase:
            session.merge(WordingRow(place=place, phrase=phrase))
            written += 1
    return written


def put_runs(session: Session, runs: Iterable[Run]) -> int:
    """Adds verification runs by id; a run that is known stays as it is. The number written."""
    written = 0
    now = clock.now(session)
    for run in runs:
        if session.get(VerificationRunRow, run.id) is None:
            values = {name: getattr(run, name) for name in Run.__slots__}
            session.add(VerificationRunRow(**{**values, "queued_at": run.queued_at or run.finished_at or now}))
            written += 1
    session.flush()
    return written


def is_run(session: Session, run_id: str) -> bool:
    """Whether a verification run of that id is stored."""
    return session.get(VerificationRunRow, run_id) is not None


def runs(session: Session) -> list[Run]:
    """Every finished verification run of a kernel, oldest first."""
    query = (
        select(VerificationRunRow)
        .where(VerificationRunRow.state == RunState.FINISHED, col(VerificationRunRow.item_id).is_not(None))
        .order_by(col(VerificationRunRow.finished_at), col(VerificationRunRow.id))
    )
    return [run_of(row) for row in session.exec(query)]


def problem_names(session: Session) -> dict[str, str]:
    """Problem id -> name."""
    return dict(session.exec(select(ProblemRow.id, ProblemRow.name)).all())


def known_ids(session: Session) -> set[str]:
    """Ids of all items."""
    return set(session.exec(select(ItemRow.id)).all())
