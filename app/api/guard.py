"""Who may come in: every request needs a key, unless its path is open, and every route needs a scope.

The door stands before the routes and before the body is read, so a path that nobody thought of is closed. The scope is
a dependency of each route, named where the route is.
"""

import ipaddress
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyHeader
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Connection

from app.api import docs
from app.api.problem_details import explained
from app.errors import Forbidden, PlaybookError, Unauthorized
from app.records import Caller
from app.services.assembly import Services
from app.vocabulary import AuthMode, Scope

OPEN = frozenset({"/healthz", "/readyz", "/openapi.json", *docs.PATHS})
"""Paths that need no key: they tell whether the service lives, and how it is called."""

OWN_DOORS = ("/admin",)
"""Paths under which a part of the service signs people in by itself."""

EVERY_SCOPE = frozenset(Scope)


class Guard:
    """Lets a request pass with its caller, or answers 401."""

    def __init__(self, app: ASGIApp, auth: AuthMode) -> None:
        self._app = app
        self._auth = auth

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Finds out who calls, unless the path is open."""
        if scope["type"] != "http" or is_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            if self._auth is AuthMode.OFF:
                refuse_strange_page(headers)
                caller = anonymous(headers)
            else:
                caller = await _identified(scope["app"].state.services, headers)
        except PlaybookError as fault:
            await explained(fault)(scope, receive, send)
            return
        scope.setdefault("state", {})["caller"] = caller
        await self._app(scope, receive, send)


def is_open(path: str) -> bool:
    """Whether a path needs no key, or looks after its keys itself."""
    return path in OPEN or any(path == door or path.startswith(f"{door}/") for door in OWN_DOORS)


def anonymous(headers: Headers) -> Caller:
    """Whoever calls where keys are off; X-Actor may name them for the history."""
    name = headers.get("x-actor", "").replace("\0", "").strip()[:200]
    return Caller(None, name or "anonymous", EVERY_SCOPE)


def refuse_strange_page(headers: Headers) -> None:
    """Raises Forbidden for what a web page of somebody else sends, where no key would keep it out.

    Such a page names itself in Origin. One whose own host name was pointed at this machine names it in Host: a dotted
    name that is no address, while whoever calls from here says localhost or an address.
    """
    host = _host(headers.get("host", ""))
    origin = headers.get("origin")
    if "." in host and not _is_address(host):
        raise Forbidden(f"With PLAYBOOK_AUTH=off, call this machine by its address, not as {host[:100]!r}.")
    if origin is not None and _host(origin.rpartition("//")[2]) != host:
        raise Forbidden("With PLAYBOOK_AUTH=off, pages of other sites may not call.")


def _host(authority: str) -> str:
    """The host of `host:port` or `[address]:port`."""
    name = authority.rpartition("@")[2]
    return name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def presented_key(headers: Headers) -> str:
    """The key that comes with a request, or Unauthorized."""
    given = headers.get("x-api-key", "").strip()
    if given:
        return given
    kind, _, token = headers.get("authorization", "").strip().partition(" ")
    if kind.lower() == "bearer" and token.strip():
        return token.strip()
    raise Unauthorized("Send a key as `X-API-Key` or `Authorization: Bearer`. `playbook keys create` makes one.")


async def _identified(services: Services, headers: Headers) -> Caller:
    presented = presented_key(headers)
    remembered = services.keyring.remembered(presented)
    if remembered is not None:
        return remembered
    return await run_in_threadpool(services.keyring.identify, presented)


_header = APIKeyHeader(name="X-API-Key", scheme_name="key", auto_error=False, description="A key of this playbook.")


def _caller(request: Request, _documented: Annotated[str | None, Security(_header)]) -> Caller:
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller is None:
        raise Unauthorized("Nobody was let in by the door; this route is not behind it.")
    return caller


CallerDep = Annotated[Caller, Depends(_caller)]


def _checked(scopes: tuple[Scope, ...]) -> Callable[[Caller], Caller]:
    def check(caller: CallerDep) -> Caller:
        if not any(caller.may(scope) for scope in scopes):
            wanted = " or ".join(scopes)
            text = f"This call needs the scope {wanted}, which the key {caller.name!r} does not have."
            raise Forbidden(text, scopes=list(scopes))
        return caller

    return check


def require(*scopes: Scope) -> Any:
    """A dependency that lets callers pass who have one of the scopes; as a parameter it is the Caller."""
    return Depends(_checked(scopes))


READS = [require(Scope.READ)]
CURATES = [require(Scope.CURATE)]
"""What most routes ask for."""
