"""A copy of a whole SQLite database while it is in use, and a database made of such a copy."""

import os
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path

from app.errors import Conflict, InvalidInput, UnreadableImport
from app.store.database import Database, explained


def copy_out(database: Database, target: Path) -> int:
    """Writes one state of the database to a new file; readers and writers go on meanwhile. The bytes written."""
    _require_sqlite(database, "pg_dump --format=custom --file=FILE URL")
    if target.exists():
        raise Conflict(f"{target} is there already; name a new file.")
    half = target.with_name(target.name + ".part")
    half.unlink(missing_ok=True)
    try:
        with explained(database.settings), closing(database.engine.raw_connection()) as source:
            with closing(sqlite3.connect(half)) as copy:
                # In one step, which reads one state of the write-ahead log while others write. In several steps each
                # write from outside would begin the copy anew.
                source.driver_connection.backup(copy)  # type: ignore[union-attr]
                # One file is easier to keep than three: the copy needs no log beside it.
                copy.execute("PRAGMA journal_mode = DELETE")
            _on_the_disk(half)
        half.replace(target)
    except (OSError, sqlite3.Error) as fault:
        half.unlink(missing_ok=True)
        raise UnreadableImport(f"{target} cannot be written: {fault}. Nothing was kept.") from fault
    return target.stat().st_size


def copy_in(database: Database, source: Path) -> str:
    """Makes the database, which must not exist, from a copy; the migration level that it has.

    It gets another identity, so that no derived file of the original is taken for one of its own.
    """
    _require_sqlite(database, "pg_restore --dbname=URL FILE")
    place = Path(database.url.database or "")
    if place.exists() and place.stat().st_size > 0:
        raise Conflict(f"{place} is there already. Stop every process that uses it and move it away first.")
    if not source.is_file():
        raise UnreadableImport(f"{source}: there is no such file.")
    half = place.with_name(place.name + ".part")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        half.unlink(missing_ok=True)
        with (
            closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as copy,
            closing(sqlite3.connect(half)) as new,
        ):
            copy.backup(new)
            damage = new.execute("PRAGMA integrity_check").fetchone()[0]
            if damage != "ok":
                raise UnreadableImport(f"{source} is damaged: {damage}")
            level = str(new.execute("SELECT version_num FROM alembic_version").fetchone()[0])
            new.execute("UPDATE corpus_state SET identity = ?", (str(uuid.uuid4()),))
            new.commit()
        _on_the_disk(half)
        half.replace(place)
    except (OSError, sqlite3.Error, TypeError) as fault:
        raise UnreadableImport(f"{source} is no backup of a playbook, or cannot be restored: {fault}") from fault
    finally:
        half.unlink(missing_ok=True)
    return level


def _require_sqlite(database: Database, instead: str) -> None:
    if not database.is_sqlite:
        raise InvalidInput(f"This is for SQLite. PostgreSQL has its own tool: {instead}")


def _on_the_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
