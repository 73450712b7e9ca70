"""Recognises keys for one process: remembers them for a moment, and notes their use without making a request wait."""

import time
from datetime import UTC, datetime
from hashlib import sha256

from app.records import ApiKey, Caller
from app.services.keys import caller_of, recognised, require_unexpired
from app.services.recorder import Recorder
from app.store.database import Database

REMEMBERED = 1.0
"""Seconds for which a key is not looked up again: the longest time that a revoked key still opens anything."""

USE_NOTED_EVERY = 60.0
"""Seconds between two notes that a key is in use."""

MOST_REMEMBERED = 10_000

KeyUse = tuple[str, datetime]


class KeyRing:
    """The keys that were presented to this process lately; it holds their hashes, never the keys."""

    def __init__(self, database: Database, uses: Recorder[KeyUse]) -> None:
        self._database = database
        self._uses = uses
        self._remembered: dict[bytes, tuple[ApiKey, float]] = {}
        self._noted: dict[str, float] = {}

    def remembered(self, presented: str) -> Caller | None:
        """Whose key this is, if it was recognised within the last second; asks no database."""
        kept = self._remembered.get(_digest(presented))
        if kept is None or kept[1] < time.monotonic():
            return None
        require_unexpired(kept[0])
        self._note(kept[0])
        return caller_of(kept[0])

    def identify(self, presented: str) -> Caller:
        """Whose key this is; Unauthorized where it opens nothing."""
        caller = self.remembered(presented)
        if caller is not None:
            return caller
        key = recognised(self._database, presented)
        if len(self._remembered) >= MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[_digest(presented)] = (key, time.monotonic() + REMEMBERED)
        self._note(key)
        return caller_of(key)

    def _note(self, key: ApiKey) -> None:
        now = time.monotonic()
        if now - self._noted.get(key.id, float("-inf")) >= USE_NOTED_EVERY:
            self._noted[key.id] = now
            self._uses.keep((key.id, datetime.now(UTC)))


def _digest(presented: str) -> bytes:
    return sha256(presented.encode()).digest()
