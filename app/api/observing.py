"""What is told of every answered request: a log line, metrics, and an audit entry where it may have changed much."""

import logging
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.metrics import Metrics
from app.records import AuditEntry, Caller
from app.services.stages import open_sheet

log = logging.getLogger("playbook.requests")

NOT_AUDITED = frozenset({"/v1/search", "/v1/context", "/v1/feedback"})
"""Routes by POST that change nothing, or leave an event in the history for everything that they change."""

UNMATCHED = "unmatched"
"""Route of a path that none has; the path itself is a client's, and would let it invent labels without end."""


class Observed:
    """Measures every request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on and notes what came of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500  # what a request is answered that ends in an exception
        answered = 0.0
        stages = open_sheet()
        began = time.perf_counter()

        async def send_noted(message: Message) -> None:
            nonlocal status, answered
            if message["type"] == "http.response.start":
                status, answered = message["status"], time.perf_counter() - began
            await send(message)

        with self._metrics.in_progress.track_inprogress():
            try:
                await self._app(scope, receive, send_noted)
            finally:
                seconds = time.perf_counter() - began
                route = _route(scope)
                phases = {"answer": answered or seconds, **stages}
                self._metrics.observe(_method(scope), route, status, seconds, phases)
                self._note(scope, route, status, seconds, stages)

    def _note(self, scope: Scope, route: str, status: int, seconds: float, stages: Mapping[str, float]) -> None:
        caller: Caller | None = scope.get("state", {}).get("caller")
        path = _path(scope)
        fields: dict[str, Any] = {
            "method": _method(scope),
            "path": path,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "caller": caller.name if caller else None,
            "stages_ms": {name: round(taken * 1000, 1) for name, taken in stages.items()},
        }
        log.log(logging.ERROR if status >= 500 else logging.INFO, "request", extra={"fields": fields})
        if caller is None or not _audited(scope, route, status):
            return
        client = scope.get("client")
        entry = AuditEntry(
            at=datetime.now(UTC),
            actor=caller.name,
            key_id=caller.key_id,
            action=f"{_method(scope)} {route}"[:200],
            target=path[:400],
            status=status,
            request_id=scope["state"].get("request_id"),
            address=client[0][:64] if client else None,
        )
        scope["app"].state.services.audit.keep(entry)


def _audited(scope: Scope, route: str, status: int) -> bool:
    """What was done, and what was tried without the scope for it; a flood of other refusals must not fill the disk."""
    changes = scope["method"] not in ("GET", "HEAD", "OPTIONS") and route not in NOT_AUDITED
    return (changes and status < 400) or status == 403


def _route(scope: Scope) -> str:
    return getattr(scope.get("route"), "path", None) or UNMATCHED


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _method(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method in _METHODS else "other"


def _path(scope: Scope) -> str:
    """The path as it was sent, percent-encoded: plain ASCII that neither a log nor a database can stumble over."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode("utf-8", "backslashreplace")
    return raw.partition(b"?")[0].decode("ascii", "backslashreplace").replace("\0", "%00")
