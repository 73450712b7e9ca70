"""Keys: made, shown once, kept as a hash, recognised, revoked.

A key reads `kpb_<12 hex digits>_<secret>`. The digits are public and find its row; the secret has 256 random bits, so
a single SHA-256 protects it as well as a slow hash would protect a password, at the cost of microseconds a request.
"""

import hmac
import re
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256

from app.errors import Conflict, InvalidInput, Unauthorized, UnknownKey
from app.records import ApiKey, AuditEntry, Caller, CreatedKey
from app.store import corpus, keys
from app.store.database import Database, Session
from app.vocabulary import Scope

LONGEST_NAME = 100
FIRST_NAME = "first-run"
COMMAND_LINE = "command line"
"""Actor of changes by whoever can run commands on the machine."""

_NAME = re.compile(rf"[^\W_][\w .@:-]{{0,{LONGEST_NAME - 1}}}\Z")
_SHAPE = re.compile(r"kpb_([0-9a-f]{12})_[A-Za-z0-9_-]{43}\Z")


def create_key(
    database: Database,
    name: str,
    scopes: Iterable[Scope],
    expires_at: datetime | None = None,
    *,
    by: str = COMMAND_LINE,
) -> CreatedKey:
    """A new key; Conflict where a living key has that name, which stands in the history for its holder."""
    now = datetime.now(UTC)
    given = frozenset(scopes)
    if not _NAME.match(name):
        raise InvalidInput(f"A key's name has 1 to {LONGEST_NAME} letters, digits, spaces and .@:-_, a letter first.")
    if not given:
        raise InvalidInput(f"A key needs at least one scope: {', '.join(Scope)}.")
    if expires_at is not None and expires_at <= now:
        raise InvalidInput("A key cannot expire in the past.")
    with database.write() as session:
        corpus.lock(session)
        twin = keys.living_with_name(session, name)
        if twin is not None:
            raise Conflict(f"The key {twin} has the name {name!r}. Revoke it first, or choose another name.")
        return _made(session, name, given, expires_at, now, by)


def first_key(database: Database) -> CreatedKey | None:
    """An admin key, if there never was any key. Of several processes that start at once, one gets it."""
    with database.read() as session:
        if keys.there_are_any(session):
            return None
    with database.write() as session:
        corpus.lock(session)
        if keys.there_are_any(session):
            return None
        return _made(session, FIRST_NAME, frozenset({Scope.ADMIN}), None, datetime.now(UTC), "first start")


def identify(database: Database, presented: str) -> Caller:
    """Whose key this is; Unauthorized where it opens nothing. Reads one row and writes nothing."""
    return caller_of(recognised(database, presented))


def recognised(database: Database, presented: str) -> ApiKey:
    """The living key that is presented, or Unauthorized."""
    shape = _SHAPE.match(presented)
    if shape is None:
        raise Unauthorized("This is not a key of this playbook; its keys begin with kpb_.")
    with database.read() as session:
        kept = keys.found(session, f"key-{shape[1]}")
    key, key_hash = kept if kept else (None, "")
    if not hmac.compare_digest(key_hash, _hash(presented)) or key is None:
        raise Unauthorized("This key is not known here. `playbook keys list` shows the ids of those that are.")
    # Only who holds the secret is told what became of the key.
    if key.revoked_at is not None:
        raise Unauthorized(f"The key {key.id} was revoked.")
    require_unexpired(key)
    return key


def require_unexpired(key: ApiKey) -> None:
    """Raises Unauthorized once a key has expired."""
    if key.expires_at is not None and key.expires_at <= datetime.now(UTC):
        raise Unauthorized(f"The key {key.id} expired at {key.expires_at.isoformat()}.")


def caller_of(key: ApiKey) -> Caller:
    """Who holds a key."""
    return Caller(key.id, key.name, key.scopes)


def revoke_key(database: Database, key_id: str, *, by: str = COMMAND_LINE) -> ApiKey:
    """Ends a key; every server refuses it within about a second. Revoking twice changes nothing."""
    now = datetime.now(UTC)
    with database.write() as session:
        corpus.lock(session)
        kept = keys.found(session, key_id)
        if kept is None:
            raise UnknownKey(f"There is no key {key_id!r}.")
        if kept[0].revoked_at is not None:
            return kept[0]
        keys.revoke(session, key_id, now)
        keys.append_audit(session, [AuditEntry(now, by, None, "keys.revoke", f"{key_id} {kept[0].name}")])
        session.expire_all()
        revoked = keys.found(session, key_id)
    return revoked[0] if revoked else kept[0]


def list_keys(database: Database) -> list[ApiKey]:
    """All keys, revoked ones too, oldest first."""
    with database.read() as session:
        return keys.every(session)


def list_audit(database: Database, limit: int) -> list[AuditEntry]:
    """The newest entries of the audit log, newest first."""
    with database.read() as session:
        return keys.audit(session, limit)


def _made(
    session: Session, name: str, scopes: frozenset[Scope], expires_at: datetime | None, now: datetime, by: str
) -> CreatedKey:
    digits = secrets.token_hex(6)
    presented = f"kpb_{digits}_{secrets.token_urlsafe(32)}"
    key = ApiKey(f"key-{digits}", name, scopes, now, by, expires_at)
    keys.add(session, key, _hash(presented))
    target = f"{key.id} {name}: {', '.join(sorted(scopes))}"
    keys.append_audit(session, [AuditEntry(now, by, None, "keys.create", target)])
    return CreatedKey(key.id, name, presented, scopes, expires_at)


def _hash(presented: str) -> str:
    return sha256(presented.encode()).hexdigest()
