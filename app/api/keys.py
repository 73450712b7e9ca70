"""Routes of keys and of the audit log."""

from datetime import datetime
from typing import Annotated, Self

from fastapi import APIRouter, Query, status
from pydantic import AwareDatetime, BaseModel, Field

from app.api.deps import DatabaseDep
from app.api.guard import CallerDep, require
from app.api.problem_details import answers
from app.api.schemas import Listing, Request
from app.api.texts import Name
from app.records import ApiKey, AuditEntry
from app.services import keys
from app.vocabulary import Scope

router = APIRouter(prefix="/v1", tags=["keys"], dependencies=[require(Scope.ADMIN)])


class NewKey(Request):
    """A key to make."""

    name: Name = Field(description="Stands in the history for its holder.", examples=["nightly-agent"])
    scopes: list[Scope] = Field(min_length=1, max_length=len(Scope), examples=[["read", "feedback"]])
    expires_at: AwareDatetime | None = Field(default=None, description="When it ends; never if left out.")


class KeyOut(BaseModel):
    """A key as it is kept; the key itself is not."""

    id: str
    name: str
    scopes: list[Scope]
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = Field(description="To about a minute.")

    @classmethod
    def of(cls, key: ApiKey) -> Self:
        """The key of a record."""
        values = {name: getattr(key, name) for name in cls.model_fields}
        return cls(**{**values, "scopes": sorted(key.scopes)})


class CreatedKeyOut(BaseModel):
    """A new key."""

    id: str
    name: str
    key: str = Field(description="Shown this once; keep it.")
    scopes: list[Scope]
    expires_at: datetime | None


class AuditEntryOut(BaseModel):
    """One thing that somebody did."""

    at: datetime
    actor: str
    key_id: str | None
    action: str
    target: str
    status: int | None
    request_id: str | None
    address: str | None

    @classmethod
    def of(cls, entry: AuditEntry) -> Self:
        """The entry of a record."""
        return cls(**{name: getattr(entry, name) for name in cls.model_fields})


@router.get("/keys", operation_id="list_keys", responses=answers(503))
def list_keys(database: DatabaseDep) -> Listing[KeyOut]:
    """Every key, revoked ones too, oldest first."""
    found = [KeyOut.of(key) for key in keys.list_keys(database)]
    return Listing(items=found, total=len(found))


@router.post(
    "/keys",
    status_code=status.HTTP_201_CREATED,
    operation_id="create_key",
    responses=answers(400, 409, 413, 422, 503),
)
def create_key(database: DatabaseDep, caller: CallerDep, new: NewKey) -> CreatedKeyOut:
    """Makes a key and shows it once."""
    made = keys.create_key(database, new.name, new.scopes, new.expires_at, by=caller.name)
    return CreatedKeyOut(
        id=made.id, name=made.name, key=made.key, scopes=sorted(made.scopes), expires_at=made.expires_at
    )


@router.delete("/keys/{key_id}", operation_id="revoke_key", responses=answers(404, 422, 503))
def revoke_key(database: DatabaseDep, caller: CallerDep, key_id: Name) -> KeyOut:
    """Ends a key; every server refuses it within about a second."""
    return KeyOut.of(keys.revoke_key(database, key_id, by=caller.name))


@router.get("/audit", operation_id="list_audit", responses=answers(422, 503))
def list_audit(database: DatabaseDep, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> Listing[AuditEntryOut]:
    """The newest entries of the audit log, newest first."""
    found = [AuditEntryOut.of(entry) for entry in keys.list_audit(database, limit)]
    return Listing(items=found, total=len(found))
