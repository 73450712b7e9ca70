"""Backup and restore of everything that is not derived."""

from dataclasses import dataclass
from pathlib import Path

from app.store import backup, migrations
from app.store.database import Database


@dataclass(frozen=True, slots=True)
class Restored:
    """A database that was made of a backup. `is_current` says whether this version can serve it as it is."""

    migration: str
    is_current: bool


def back_up(database: Database, target: Path) -> int:
    """One consistent state of the database as a new file, while it is in use; its size in bytes."""
    return backup.copy_out(database, target)


def restore(database: Database, source: Path) -> Restored:
    """Makes the database of the settings, which must not exist, from a backup."""
    level = backup.copy_in(database, source)
    return Restored(level, level == migrations.head())
