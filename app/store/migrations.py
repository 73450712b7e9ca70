"""Schema migrations: which level the database is at, and bringing it to ours."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect

from app.errors import WrongMigration
from app.store.database import Database, explained

SCRIPTS = Path(__file__).resolve().parents[2] / "migrations"


def head() -> str:
    """The migration level that this code needs."""
    level = ScriptDirectory(str(SCRIPTS)).get_current_head()
    if level is None:
        raise WrongMigration(f"There are no migrations in {SCRIPTS}; the installation is incomplete.")
    return level


def level_of(database: Database) -> str | None:
    """The migration level of the database; None for an empty one."""
    with explained(database.settings), database.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def is_empty(database: Database) -> bool:
    """Whether the database has no tables at all."""
    with explained(database.settings), database.engine.connect() as connection:
        return not inspect(connection).get_table_names()


def migrate(database: Database) -> bool:
    """Brings the schema to our level; True if anything changed. Refuses a database that is ahead of this code."""
    before = level_of(database)
    if before is not None and before not in {
        script.revision for script in ScriptDirectory(str(SCRIPTS)).walk_revisions()
    }:
        raise WrongMigration(
            f"The database is at migration {before!r}, which this version does not know. "
            "It was made by a newer version: upgrade the program, or point PLAYBOOK_DATABASE_URL elsewhere."
        )
    if before == head():
        return False
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    with explained(database.settings), database.engine.execution_options(begin_immediate=True).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    return True


def require_current(database: Database) -> None:
    """Raises WrongMigration unless the database is at our level."""
    level = level_of(database)
    if level != head():
        found = "no tables yet" if level is None else f"migration {level!r}"
        raise WrongMigration(f"The database has {found}, this version needs {head()!r}. Run `playbook migrate`.")
