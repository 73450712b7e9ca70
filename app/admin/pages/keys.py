"""Keys: who may do what."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Form
from pydantic import BeforeValidator, Field
from starlette.responses import Response

from app.admin.desk import Desk, DeskDep
from app.admin.forms import AdminForm
from app.admin.gate import DeskRoute, needs
from app.records import CreatedKey
from app.services import keys
from app.services.texts import Name
from app.vocabulary import Scope

router = APIRouter(prefix="/admin/keys", route_class=DeskRoute)

AUDIT_SHOWN = 40


@router.get("")
@needs(Scope.ADMIN)
def keys_page(desk: DeskDep) -> Response:
    """All keys, and what their holders did last."""
    return _page(desk, None)


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


class KeyForm(AdminForm):
    """A new key."""

    name: Name
    scopes: Annotated[list[Scope], BeforeValidator(_listed)] = []
    days: int | None = Field(default=None, ge=1, le=36_500)


@router.post("")
@needs(Scope.ADMIN)
def create(desk: DeskDep, form: Annotated[KeyForm, Form()]) -> Response:
    """Makes a key and shows it, this once."""
    expires_at = None if form.days is None else datetime.now(UTC) + timedelta(days=form.days)
    made = keys.create_key(desk.services.database, form.name, form.scopes, expires_at, by=desk.name)
    return _page(desk, made)


@router.post("/{key_id}/revoke")
@needs(Scope.ADMIN)
def revoke(desk: DeskDep, key_id: str, form: Annotated[AdminForm, Form()]) -> Response:
    """Ends a key."""
    revoked = keys.revoke_key(desk.services.database, key_id, by=desk.name)
    return desk.to("/admin/keys", f"The key {revoked.name} opens nothing any more.")


def _page(desk: Desk, made: CreatedKey | None) -> Response:
    database = desk.services.database
    return desk.page(
        "keys.html",
        keys=keys.list_keys(database),
        made=made,
        scopes=list(Scope),
        audit=keys.list_audit(database, AUDIT_SHOWN),
        now=datetime.now(UTC),
    )
