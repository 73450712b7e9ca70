"""Problems that arise before or behind the routes of the desk, as pages: whoever reads them has a browser."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.admin.gate import HEADERS
from app.admin.templating import rendered

_PROBLEM = b"application/problem+json"
_CHANGED = frozenset({b"content-type", b"content-length", b"content-security-policy"})

Handler = Callable[[Request, Exception], Awaitable[Response]]


def is_desk(path: str) -> bool:
    """Whether a path belongs to the desk."""
    return path == "/admin" or path.startswith("/admin/")


class FaultPages:
    """Turns every problem document that is answered under /admin into a page of the same status."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""
        if scope["type"] != "http" or not is_desk(scope["path"]):
            await self._app(scope, receive, send)
            return
        held: list[Message] = []

        async def send_page(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_problem(message):
                held.append(message)
            elif held:
                held.append(message)
                if not message.get("more_body", False):
                    await _page_of(held)(scope, receive, send)
            else:
                await send(message)

        await self._app(scope, receive, send_page)


def with_pages(handler: Handler) -> Handler:
    """A handler of faults whose answers under /admin are pages: it answers outside of every middleware."""

    async def answer(request: Request, fault: Exception) -> Response:
        response = await handler(request, fault)
        if not is_desk(request.url.path):
            return response
        kept = {name: value for name, value in response.headers.items() if name.encode() not in _CHANGED}
        return _page(response.status_code, json.loads(bytes(response.body)), kept)

    return answer


def _is_problem(start: Message) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(_PROBLEM) for name, value in start["headers"])


def _page_of(messages: list[Message]) -> Response:
    start, *rest = messages
    kept = {name.decode(): value.decode() for name, value in start["headers"] if name.lower() not in _CHANGED}
    return _page(start["status"], json.loads(b"".join(message.get("body", b"") for message in rest)), kept)


def _page(status: int, problem: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    told = {name.lower(): value for name, value in (*headers.items(), *HEADERS.items())}
    return HTMLResponse(rendered("unavailable.html", {"fault": problem}), status, told)
