"""Table audit_entry: who changed what through which door. Append only."""

from datetime import datetime

from sqlmodel import Field

from app.models.base import Table
from app.models.columns import UtcDateTime


class AuditEntryRow(Table, table=True):
    """One change of keys, or one request that may change more than counters, with how it was answered."""

    __tablename__ = "audit_entry"

    id: int | None = Field(default=None, primary_key=True)
    at: datetime = Field(sa_type=UtcDateTime, index=True)
    actor: str = Field(max_length=200)
    key_id: str | None = Field(default=None, max_length=64)
    action: str = Field(max_length=200)
    """`keys.create`, or the method and route of a request."""
    target: str = Field(max_length=400)
    """Id of the key, or path of the request."""
    status: int | None = None
    """HTTP status of the answer."""
    request_id: str | None = Field(default=None, max_length=64)
    address: str | None = Field(default=None, max_length=64)
    """Where the request came from."""
