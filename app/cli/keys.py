"""Commands of keys: create, list, revoke."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from app.cli.output import AsJson, remark, say, say_json
from app.records import ApiKey
from app.services import keys
from app.services.migrate import ensure_migrated
from app.settings import Settings
from app.store.database import Database
from app.vocabulary import Scope

group = typer.Typer(help="Keys: who may do what over HTTP.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Adds the group."""
    app.add_typer(group, name="keys")


@group.command()
def create(
    name: Annotated[str, typer.Option(help="Stands in the history for the key's holder.")],
    scope: Annotated[list[Scope], typer.Option(help="What the key allows; may be given several times.")],
    expires_days: Annotated[int | None, typer.Option(min=1, max=36_500, help="Days until it ends.")] = None,
    as_json: AsJson = False,
) -> None:
    """Makes a key and prints it, the only time that it can be read."""
    expires_at = None if expires_days is None else datetime.now(UTC) + timedelta(days=expires_days)
    made = keys.create_key(_database(), name, scope, expires_at)
    if as_json:
        scopes = sorted(made.scopes)
        say_json({"id": made.id, "name": made.name, "key": made.key, "scopes": scopes, "expires_at": made.expires_at})
        return
    remark(f"{made.id}, named {made.name!r}, may {', '.join(sorted(made.scopes))}. The key is shown this once:")
    say(made.key)


@group.command("list")
def list_keys(as_json: AsJson = False) -> None:
    """Lists every key with its id, scopes and last use; never the key itself."""
    found = keys.list_keys(_database())
    if as_json:
        say_json([{name: _plain(getattr(key, name)) for name in ApiKey.__slots__} for key in found])
        return
    for key in found:
        used = f"last used {key.last_used_at:%Y-%m-%d %H:%M} UTC" if key.last_used_at else "never used"
        say(f"{key.id}  {key.name}  {', '.join(sorted(key.scopes))}  {_standing(key)}  {used}")


@group.command()
def revoke(
    key_id: Annotated[str, typer.Argument(help="Id of the key, as `playbook keys list` prints it.")],
    as_json: AsJson = False,
) -> None:
    """Ends a key; every server refuses it within about a second."""
    key = keys.revoke_key(_database(), key_id)
    say_json({"id": key.id, "revoked_at": key.revoked_at}) if as_json else say(f"{key.id} ({key.name}) is revoked.")


def _plain(value: object) -> object:
    return sorted(value) if isinstance(value, frozenset) else value


def _standing(key: ApiKey) -> str:
    if key.revoked_at is not None:
        return f"revoked {key.revoked_at:%Y-%m-%d}"
    return f"until {key.expires_at:%Y-%m-%d}" if key.expires_at is not None else "no end"


def _database() -> Database:
    database = Database(Settings())
    ensure_migrated(database)
    return database
