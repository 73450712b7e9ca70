"""Signing in and out, the look of the pages, and the files that they are made of."""

import json
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form
from starlette.responses import Response

from app.admin.desk import THEME, THEMES, DeskDep
from app.admin.forms import AdminForm
from app.admin.gate import DeskRoute, needs, shown_to_all
from app.admin.links import local
from app.admin.sessions import COOKIE, PATH, new_session
from app.admin.templating import STATIC
from app.errors import InvalidInput, Unauthorized, UnknownItem
from app.vocabulary import Scope

router = APIRouter(prefix="/admin", route_class=DeskRoute)

_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


class SignIn(AdminForm):
    """A key, where to go afterwards, and what was typed into a form of a session that is over."""

    key: str = ""
    next: str = "/admin"
    kept: str = "[]"
    kept_token: str = ""


class Look(AdminForm):
    """A choice between light and dark."""

    theme: str = "auto"
    next: str = "/admin"


@router.get("/sign-in")
@shown_to_all
def sign_in_page(desk: DeskDep, next: str = "/admin") -> Response:
    """Asks for a key."""
    if desk.caller is not None:
        return desk.to(local(next))
    return desk.page("sign_in.html", next=local(next), kept=[], kept_token="", fault=None, expired=False)


@router.post("/sign-in")
@shown_to_all
def sign_in(desk: DeskDep, form: Annotated[SignIn, Form()]) -> Response:
    """Opens a session for whoever has a key; what was typed before comes back to the same key."""
    kept = _pairs(form.kept)
    try:
        caller = desk.services.keyring.identify(form.key.strip())
    except Unauthorized as fault:
        asked = {"next": local(form.next), "kept": kept, "kept_token": form.kept_token}
        return desk.page("sign_in.html", 401, **asked, fault=fault.detail, expired=False)
    typed_by = desk.signer.key_of_token(form.kept_token)
    # A name that nobody knew before the sign-in, so that nobody can have planted it.
    desk.session, desk.caller, desk.is_new = new_session(caller.key_id), caller, True
    if kept and typed_by == caller.key_id:
        return desk.page("resend.html", action=local(form.next), typed=kept)
    return desk.to(local(form.next))


@router.post("/sign-out")
@needs(Scope.READ)
def sign_out(desk: DeskDep) -> Response:
    """Ends the session in this browser."""
    response = desk.to("/admin/sign-in")
    response.delete_cookie(COOKIE, path=PATH)
    return response


@router.post("/theme")
@shown_to_all
def choose_theme(desk: DeskDep, form: Annotated[Look, Form()]) -> Response:
    """Keeps the choice between light and dark in this browser."""
    if form.theme not in THEMES:
        raise InvalidInput(f"The look is one of: {', '.join(THEMES)}.")
    response = desk.to(local(form.next))
    response.set_cookie(THEME, form.theme, max_age=365 * 86_400, path=PATH, samesite="lax", secure=desk.is_https)
    return response


@router.get("/static/{name}")
@shown_to_all
def static(name: str) -> Response:
    """A style sheet, script or drawing."""
    if name not in STATIC:
        raise UnknownItem(f"There is no file {quote(name)}.")
    kind = _TYPES.get(name.rpartition(".")[2], "text/plain; charset=utf-8")
    return Response(STATIC[name], media_type=kind, headers={"Cache-Control": "public, max-age=31536000, immutable"})


def _pairs(kept: str) -> list[tuple[str, str]]:
    """The fields that the sign-in page carried along."""
    try:
        pairs = json.loads(kept)
        return [(str(name), str(value)) for name, value in pairs]
    except (ValueError, TypeError) as fault:
        raise InvalidInput("What the sign-in page had kept cannot be read.") from fault
