"""What a server does before its first answer."""

from app.services.assembly import Services
from app.services.deriving import derive_missing
from app.services.migrate import ensure_migrated


def prepare(services: Services) -> None:
    """Checks the schema, embeds what has no vector, loads the snapshot and wakes the sentence model."""
    ensure_migrated(services.database)
    derive_missing(services.database, services.embedder)
    services.catalog.current()
    services.catalog.save_index()
    services.tasks.warm_up()
