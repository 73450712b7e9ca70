"""Readers and what they reach alone."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from app.errors import InvalidInput
from app.memory.baselines import CAP, Baselines
from app.records import Baseline, Reader
from app.store import corpus, facts
from app.store.database import Database

EXACTNESS = Decimal("0.00000001")
_COLUMNS = ("problem", "speedup", "runs")
_FAILED = frozenset({"", "failed", "none", "null"})
_MOST_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class SoloRuns:
    """So many runs of a reader without memory on one problem, with their mean speedup (a ratio; a failed run is 0)."""

    problem: str
    speedup: Decimal
    runs: int = 1


@dataclass(frozen=True, slots=True)
class ReaderBaselines:
    """A reader's baselines as measured, and its averages per (family, level) as contexts use them."""

    reader: str
    measured: Sequence[Baseline]
    averages: Mapping[tuple[str, int], Decimal]


def put_reader(database: Database, name: str, display_name: str | None) -> Reader:
    """Adds a reader, or gives a known one a display name."""
    with database.write() as session:
        if facts.put_readers(session, [Reader(name, display_name)]):
            corpus.advance(session, facts=True)
        return corpus.facts(session).readers[name]


def put_baselines(database: Database, reader: str, rows: Iterable[SoloRuns]) -> ReaderBaselines:
    """Sets the reader's baseline on each problem named: all of them, or none where one cannot be taken.

    Rows on the same problem are averaged, each weighing as many runs as it counts; speedups are capped at 10.
    """
    means = _means(rows)
    with database.write() as session:
        known = corpus.facts(session).problems
        unknown = sorted(set(means) - set(known))
        if unknown:
            raise InvalidInput(
                f"There is no problem {', '.join(map(repr, unknown[:5]))} here. Import it first.", unknown=unknown
            )
        written = facts.put_readers(session, [Reader(reader)])
        written += facts.put_baselines(
            session, [Baseline(reader, value, problem=problem, runs=runs) for problem, (value, runs) in means.items()]
        )
        if written:
            corpus.advance(session, facts=True)
    return reader_baselines(database, reader)


def reader_baselines(database: Database, reader: str) -> ReaderBaselines:
    """The reader's baselines; empty for a reader that was never measured."""
    with database.read() as session:
        found = corpus.facts(session)
    return _baselines_of(reader, found)


def every_reader(database: Database) -> list[tuple[Reader, ReaderBaselines]]:
    """Every known reader with its baselines, by name."""
    with database.read() as session:
        found = corpus.facts(session)
    return [(found.readers[name], _baselines_of(name, found)) for name in sorted(found.readers)]


def _baselines_of(reader: str, found: corpus.Facts) -> ReaderBaselines:
    own = [baseline for baseline in found.baselines if baseline.reader == reader]
    known = Baselines(own, found.problems)
    pairs = {(b.family, b.level) for b in own if b.family is not None and b.level is not None}
    pairs |= {(found.problems[b.problem].family, found.problems[b.problem].level) for b in own if b.problem}
    averages = {pair: average for pair in sorted(pairs) if (average := known.average(reader, *pair)) is not None}
    return ReaderBaselines(reader, sorted(own, key=lambda b: (b.problem or "", b.family or "", b.level or 0)), averages)


def rows_of_csv(text: str) -> list[SoloRuns]:
    """Rows of a CSV with the columns problem, speedup and, if wanted, runs; InvalidInput names the lines at fault."""
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=None))
    try:
        return _checked_rows(reader)
    except csv.Error as fault:
        raise InvalidInput(f"line {reader.line_num + 1}: this is not CSV ({fault}).") from fault


def _checked_rows(reader: "csv.DictReader[str]") -> list[SoloRuns]:
    columns = [name.strip().lower() for name in reader.fieldnames or ()]
    if not {"problem", "speedup"} <= set(columns) <= set(_COLUMNS):
        raise InvalidInput("The first line of the CSV names the columns: problem,speedup,runs (runs may be left out).")
    reader.fieldnames = columns
    rows, faults = [], []
    for row in reader:
        try:
            rows.append(solo_runs(row.get("problem") or "", row.get("speedup"), row.get("runs") or "1"))
        except InvalidInput as fault:
            faults.append(f"line {reader.line_num}: {fault.detail}")
    if faults:
        raise InvalidInput("; ".join(faults[:5]), faults=faults)
    return rows


def solo_runs(problem: str, speedup: str | float | Decimal | None, runs: str | int) -> SoloRuns:
    """One row, checked: a blank or failed speedup is 0, anything else a finite number of 0 or more."""
    try:
        value = Decimal(0) if str(speedup or "").strip().lower() in _FAILED else Decimal(str(speedup).strip())
        count = int(runs)
    except (InvalidOperation, ValueError) as fault:
        raise InvalidInput(f"{problem}: speedup {speedup!r} or runs {runs!r} is not a number.") from fault
    if not value.is_finite() or value < 0:
        raise InvalidInput(f"{problem}: the speedup {speedup!r} is not a finite number of 0 or more.")
    if not 1 <= count <= 1_000_000:
        raise InvalidInput(f"{problem}: runs is {count}; a mean needs between 1 and 1000000 runs.")
    if not problem.strip():
        raise InvalidInput("A row names no problem.")
    return SoloRuns(problem.strip(), value, count)


def _means(rows: Iterable[SoloRuns]) -> dict[str, tuple[Decimal, int]]:
    """Problem -> (mean over all of its runs, number of runs)."""
    by_problem: dict[str, list[SoloRuns]] = defaultdict(list)
    for number, row in enumerate(rows):
        if number >= _MOST_ROWS:
            raise InvalidInput(f"At most {_MOST_ROWS} rows at a time.")
        by_problem[row.problem].append(row)
    if not by_problem:
        raise InvalidInput("There are no rows.")
    means = {}
    for problem, entries in by_problem.items():
        runs = sum(entry.runs for entry in entries)
        total = sum((min(entry.speedup, CAP) * entry.runs for entry in entries), Decimal(0))
        means[problem] = ((total / runs).quantize(EXACTNESS), runs)
    return means
