"""Commands about readers and what they reach alone."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import AsJson, say, say_json
from app.errors import InvalidInput
from app.services import listing
from app.services.migrate import ensure_migrated
from app.services.readers import put_baselines, put_reader, rows_of_csv
from app.settings import Settings
from app.store.database import Database

group = typer.Typer(help="Readers, and what they reach without memory.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Adds the group."""
    app.add_typer(group, name="readers")


@group.command("list")
def list_readers(as_json: AsJson = False) -> None:
    """Lists the known readers."""
    _, readers = listing.problems_and_readers(_database())
    if as_json:
        say_json([{"name": reader.name, "display_name": reader.display_name} for reader in readers])
        return
    for reader in readers:
        say(reader.name + (f" ({reader.display_name})" if reader.display_name else ""))


@group.command("import")
def import_baselines(
    file: Annotated[Path, typer.Argument(help="CSV with the columns problem, speedup and runs.")],
    reader: Annotated[str, typer.Option(help="The model that made the runs.")],
    display_name: Annotated[str | None, typer.Option(help="Its name as contexts print it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Sets a reader's solo baselines from a CSV: all rows or none."""
    try:
        rows = rows_of_csv(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as fault:
        raise InvalidInput(f"{file}: cannot be read as UTF-8 text ({fault}).") from fault
    database = _database()
    found = put_baselines(database, reader, rows)
    if display_name is not None:
        put_reader(database, reader, display_name)
    if as_json:
        averages = [{"family": f, "level": n, "mean": float(mean)} for (f, n), mean in found.averages.items()]
        say_json({"reader": reader, "baselines": len(found.measured), "averages": averages})
        return
    say(f"{reader}: {len(found.measured)} baselines")
    for (family, level), mean in found.averages.items():
        say(f"  {family}, level {level}: {mean:.2f}x on average")


def _database() -> Database:
    database = Database(Settings())
    ensure_migrated(database)
    return database
