"""Whoever signed in with a key once, for as long as the key holds."""

from app.errors import Unauthorized
from app.records import Caller
from app.services.keys import caller_of, require_unexpired
from app.store import keys
from app.store.database import Database


def caller_with(database: Database, key_id: str) -> Caller:
    """Who signed in with a key; Unauthorized once it was revoked or has expired."""
    with database.read() as session:
        kept = keys.found(session, key_id)
    if kept is None or kept[0].revoked_at is not None:
        raise Unauthorized("The key that this session was opened with was revoked.")
    require_unexpired(kept[0])
    return caller_of(kept[0])
