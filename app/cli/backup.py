"""Commands backup and restore."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import AsJson, say, say_json
from app.services.backup import back_up
from app.services.backup import restore as restore_from
from app.settings import Settings
from app.store import migrations
from app.store.database import Database


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(backup)
    app.command()(restore)


def backup(
    file: Annotated[Path, typer.Argument(help="New file.", show_default=False)], as_json: AsJson = False
) -> None:
    """Copies the SQLite database into a file while the service runs."""
    database = Database(Settings())
    migrations.require_current(database)
    size = back_up(database, file)
    say_json({"file": str(file), "bytes": size}) if as_json else say(f"{file}: {size:,} bytes")


def restore(
    file: Annotated[Path, typer.Argument(help="A backup.", show_default=False)], as_json: AsJson = False
) -> None:
    """Makes the SQLite database from a backup; refuses where there is one already."""
    done = restore_from(Database(Settings()), file)
    if as_json:
        say_json({"migration": done.migration, "current": done.is_current})
        return
    say(f"Restored at migration {done.migration}." + ("" if done.is_current else " Run `playbook migrate` now."))
