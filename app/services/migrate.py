"""Brings a database to the present schema, with the facts that ship with the product."""

from app.services.bundled import bundled_problems
from app.store import corpus, facts, migrations
from app.store.database import Database


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
