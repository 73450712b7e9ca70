"""What can go wrong, as exceptions.

PlaybookFault            the service answered with a problem document (RFC 9457)
|-- InvalidRequest       400, 413, 422  change the request
|-- Unauthorized         401            send another key
|-- Forbidden            403            the key lacks a scope; `extra["scopes"]` lists those that would do
|-- NotFound             404
|-- Conflict             409            read again, then decide
`-- Unavailable          429, 5xx       try later; the client has tried so often as it was told to
Unreachable              no answer came at all
"""

from collections.abc import Mapping
from typing import Any

import httpx


class PlaybookFault(Exception):
    """An explained error. `detail` says what happened and what to do; `type` is a URN that never changes."""

    def __init__(self, status: int, problem: Mapping[str, Any], request_id: str | None = None) -> None:
        self.status = status
        self.type = str(problem.get("type", "about:blank"))
        self.title = str(problem.get("title", "Error"))
        self.detail = str(problem.get("detail", ""))
        self.extra = {key: value for key, value in problem.items() if key not in ("type", "title", "status", "detail")}
        self.request_id = request_id
        super().__init__(f"{status} {self.title}: {self.detail}")


class InvalidRequest(PlaybookFault):
    """The request cannot be understood, is out of range or too large."""


class Unauthorized(PlaybookFault):
    """No key, or one that opens nothing."""


class Forbidden(PlaybookFault):
    """The key does not have the scope that the call needs."""


class NotFound(PlaybookFault):
    """There is no such thing."""


class Conflict(PlaybookFault):
    """The request contradicts the present state."""


class Unavailable(PlaybookFault):
    """The service cannot answer now."""


class Unreachable(Exception):
    """The service did not answer: it is not there, the network failed, or the time was up."""


_BY_STATUS: dict[int, type[PlaybookFault]] = {
    400: InvalidRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: InvalidRequest,
    422: InvalidRequest,
    429: Unavailable,
}


def fault_of(answer: httpx.Response) -> PlaybookFault:
    """The exception for an answer that is an error."""
    try:
        problem = answer.json()
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {"title": answer.reason_phrase, "detail": answer.text[:500]}
    kind = _BY_STATUS.get(answer.status_code, Unavailable if answer.status_code >= 500 else PlaybookFault)
    return kind(answer.status_code, problem, answer.headers.get("X-Request-ID"))
