"""What a server does before its first answer."""

import ipaddress
import sys

from app.errors import Unguarded
from app.records import CreatedKey
from app.services.assembly import Services, assembled
from app.services.deriving import derive_missing
from app.services.keys import first_key
from app.services.migrate import ensure_migrated
from app.settings import Settings
from app.vocabulary import AuthMode


def prepare(services: Services) -> None:
    """Checks settings and schema, embeds what has no vector, loads the snapshot, wakes the sentence model.

    Where there never was a key, it makes an admin key and shows it.
    """
    require_guarded(services.settings)
    ensure_migrated(services.database)
    derive_missing(services.database, services.embedder)
    services.catalog.current()
    services.catalog.save_index()
    services.tasks.warm_up()
    made = first_key(services.database) if services.settings.auth is AuthMode.KEYS else None
    if made is not None:
        _show(made)


def prepare_for_workers(settings: Settings) -> None:
    """Does once what the workers of one service would otherwise do all at the same time: schema and derived data."""
    services = assembled(settings)
    try:
        ensure_migrated(services.database)
        derive_missing(services.database, services.embedder)
        services.catalog.save_index()
    finally:
        services.close()


def require_guarded(settings: Settings) -> None:
    """Raises Unguarded where keys are off and others than this machine can reach the service."""
    if settings.auth is AuthMode.OFF and not _loopback(settings.host):
        raise Unguarded(
            f"PLAYBOOK_AUTH=off is refused on {settings.host}, which others can reach. "
            "Bind 127.0.0.1, or leave PLAYBOOK_AUTH at keys."
        )


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _show(made: CreatedKey) -> None:
    """Prints the first key, past the log: a key is in no log file."""
    text = f"\nThe first start made an admin key. It is shown this once:\n\n    {made.key}\n\n"
    sys.stderr.write(f"{text}`playbook keys create` makes more, `playbook keys revoke {made.id}` ends this one.\n\n")
    sys.stderr.flush()
