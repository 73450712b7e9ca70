"""Keys, and the audit log of what their holders did."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from sqlmodel import Session, col, select, update

from app.models import ApiKeyRow, AuditEntryRow
from app.records import ApiKey, AuditEntry
from app.vocabulary import Scope


def add(session: Session, key: ApiKey, key_hash: str) -> None:
    """Keeps a new key by its hash."""
    values = {name: getattr(key, name) for name in ApiKey.__slots__}
    session.add(ApiKeyRow(**{**values, "scopes": sorted(key.scopes)}, hash=key_hash))


def found(session: Session, key_id: str) -> tuple[ApiKey, str] | None:
    """A key and the hash of it."""
    row = session.get(ApiKeyRow, key_id)
    return (_key(row), row.hash) if row else None


def every(session: Session) -> list[ApiKey]:
    """All keys, revoked ones too, oldest first."""
    return [_key(row) for row in session.exec(select(ApiKeyRow).order_by(col(ApiKeyRow.created_at), col(ApiKeyRow.id)))]


def there_are_any(session: Session) -> bool:
    """Whether a key was ever made."""
    return session.exec(select(ApiKeyRow.id).limit(1)).first() is not None


def living_with_name(session: Session, name: str) -> str | None:
    """Id of the key of that name that was not revoked."""
    query = select(ApiKeyRow.id).where(ApiKeyRow.name == name, col(ApiKeyRow.revoked_at).is_(None))
    return session.exec(query).first()


def revoke(session: Session, key_id: str, at: datetime) -> None:
    """Ends a key."""
    session.exec(update(ApiKeyRow).where(col(ApiKeyRow.id) == key_id).values(revoked_at=at))


def note_uses(session: Session, uses: Iterable[tuple[str, datetime]]) -> None:
    """Keeps when keys were last used, given as (key id, moment); a later moment that is there already stays."""
    latest: Mapping[str, datetime] = dict(sorted(uses, key=lambda use: use[1]))
    for key_id, at in latest.items():
        before = col(ApiKeyRow.last_used_at)
        table = update(ApiKeyRow).where(col(ApiKeyRow.id) == key_id, before.is_(None) | (before < at))
        session.exec(table.values(last_used_at=at))


def append_audit(session: Session, entries: Iterable[AuditEntry]) -> None:
    """Appends to the audit log."""
    for entry in entries:
        session.add(AuditEntryRow(**{name: getattr(entry, name) for name in AuditEntry.__slots__}))


def audit(session: Session, limit: int) -> list[AuditEntry]:
    """The newest entries of the audit log, newest first."""
    rows = session.exec(select(AuditEntryRow).order_by(col(AuditEntryRow.id).desc()).limit(limit))
    return [AuditEntry(**row.model_dump(exclude={"id"})) for row in rows]


def _key(row: ApiKeyRow) -> ApiKey:
    return ApiKey(**{**row.model_dump(exclude={"hash"}), "scopes": frozenset(map(Scope, row.scopes))})
