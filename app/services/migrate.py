"""Brings a database to the present schema, with the facts that ship with the product."""

import csv
from collections.abc import Iterator
from importlib import resources

from app.records import Problem
from app.store import corpus, facts, migrations
from app.store.database import Database

KERNELBENCH = "KernelBench"


def migrate(database: Database) -> bool:
    """Migrates and loads the bundled problem facts; True if anything changed."""
    changed = migrations.migrate(database)
    return load_bundled_facts(database) or changed


def load_bundled_facts(database: Database) -> bool:
    """Writes the facts that ship with the product, where they are missing or have changed; True if any were."""
    with database.write() as session:
        written = facts.put_problems(session, bundled_problems())
        if written:
            corpus.advance(session, facts=True)
    return written > 0


def ensure_migrated(database: Database) -> None:
    """Migrates an empty database, or one whose first migration was interrupted; refuses one of another level."""
    if migrations.is_empty(database):
        migrate(database)
    migrations.require_current(database)
    with database.read() as session:
        interrupted = not corpus.facts(session).problems
    if interrupted:
        load_bundled_facts(database)


def bundled_problems() -> Iterator[Problem]:
    """Facts of KernelBench's problems of levels 1 to 3 (id, level, number, name, family, sha256 of the file)."""
    with resources.files("app.data").joinpath("kernelbench_problems.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            yield Problem(
                id=row["id"],
                origin=KERNELBENCH,
                level=int(row["level"]),
                number=int(row["number"]),
                name=row["name"],
                family=row["family"],
                sha256=row["sha256"],
            )
