"""What happens to every request: an id, and a limit to its body."""

import re
import uuid
from collections.abc import Mapping, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api import logs
from app.api.problem_details import problem

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")


class RequestId:
    """Gives every response the request's X-Request-ID, or a fresh one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _REQUEST_ID.match(given) else uuid.uuid4().hex
        state: MutableMapping[str, Any] = scope.setdefault("state", {})
        state["request_id"] = request_id
        logs.request_id.set(request_id)

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        await self._app(scope, receive, send_with_id)


class BodyLimit:
    """Refuses a body that is longer than `limit` bytes, whatever its Content-Length says.

    `streamed` names the paths whose bodies are passed on as they come, each with a limit of its own.
    """

    def __init__(self, app: ASGIApp, limit: int, streamed: Mapping[str, int] | None = None) -> None:
        self._app = app
        self._limit = limit
        self._streamed = streamed or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reads the body up to the limit, then passes the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"] in self._streamed:
            await _Streamed(self._app, self._streamed[scope["path"]])(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "0")
        body: list[bytes] = []
        size = int(declared) if declared.isdigit() else 0
        received, more = 0, True
        while more and size <= self._limit:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body.append(message.get("body", b""))
            received += len(body[-1])
            size = max(size, received)
            more = message.get("more_body", False)
        if size > self._limit:
            await _too_large(self._limit, "PLAYBOOK_MAX_BODY_BYTES")(scope, receive, send)
            return
        whole: Message = {"type": "http.request", "body": b"".join(body), "more_body": False}
        given = False

        async def replay() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return whole

        await self._app(scope, replay, send)


class _TooLarge(Exception):
    """A streamed body passed its limit."""


class _Streamed:
    """Passes a body on as it comes; 413 as soon as it is over `limit` bytes."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Counts what the application reads."""
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._limit:
                raise _TooLarge
            return message

        try:
            await self._app(scope, counted, send)
        except _TooLarge:
            await _too_large(self._limit, "PLAYBOOK_MAX_IMPORT_BYTES")(scope, receive, send)


def _too_large(limit: int, setting: str) -> Response:
    detail = f"The body is over {limit} bytes. Send less, or raise {setting}."
    return problem(413, "body-too-large", "Body too large", detail)
