"""Every error as RFC 9457 problem+json, in one shape."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from app.api.headers import SECURE
from app.errors import PlaybookError

log = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"


class ProblemDetails(BaseModel):
    """An error (RFC 9457); other members may join, such as `known` or `current_version`."""

    type: str = Field(examples=["urn:kernel-playbook:unknown-policy"])
    title: str = Field(examples=["Unknown policy"])
    status: int = Field(examples=[422])
    detail: str = Field(examples=["There is no policy 'best'. Choose one of: none, prior, ace, ..."])


RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"description": description, "content": {MEDIA_TYPE: {"schema": ProblemDetails.model_json_schema()}}}
    for status, description in (
        (400, "The body is not JSON"),
        (401, "No key, or one that opens nothing"),
        (403, "The key does not have the scope that the call needs"),
        (404, "Nothing has that id"),
        (408, "The body did not come in time"),
        (409, "Conflict with the present state"),
        (413, "Body too large"),
        (422, "Invalid input"),
        (429, "The key has used up its requests of this minute; see Retry-After"),
        (503, "The service cannot answer now"),
    )
}
"""The problems that a route may answer, for OpenAPI."""


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI entries of some problem statuses."""
    return {status: RESPONSES[status] for status in statuses}


Handler = Callable[[Request, Exception], Awaitable[Response]]


def install(app: FastAPI, unforeseen: Callable[[Handler], Handler]) -> None:
    """Registers the handlers. `unforeseen` wraps the one of faults that nobody foresaw: its answer passes through no
    middleware, which could have changed it.
    """
    app.add_exception_handler(PlaybookError, _explained)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, unforeseen(_unexpected))


def problem(status: int, kind: str, title: str, detail: str, **extra: Any) -> JSONResponse:
    """A problem document as a response."""
    body = {"type": f"urn:kernel-playbook:{kind}", "title": title, "status": status, "detail": detail, **extra}
    return JSONResponse(body, status_code=status, media_type=MEDIA_TYPE, headers=_HEADERS.get(status))


_HEADERS = {401: {"WWW-Authenticate": 'Bearer realm="Kernel Playbook"'}, 503: {"Retry-After": "1"}}


def explained(fault: PlaybookError) -> JSONResponse:
    """The problem document of a fault."""
    return problem(fault.status, fault.type.rpartition(":")[2], fault.title, fault.detail, **fault.extra)


async def _explained(request: Request, fault: Exception) -> JSONResponse:
    assert isinstance(fault, PlaybookError)
    return explained(fault)


async def _invalid(request: Request, fault: Exception) -> JSONResponse:
    assert isinstance(fault, RequestValidationError)
    errors = [{"field": _place(error["loc"]), "message": _message(error)} for error in fault.errors()]
    if any(error["type"] == "json_invalid" for error in fault.errors()):
        reason = next(str(error.get("ctx", {}).get("error", "")) for error in fault.errors())
        return problem(400, "malformed-json", "Malformed JSON", f"The body is not JSON: {_printable(reason)}.")
    first = errors[0]
    return problem(422, "invalid-input", "Invalid input", f"{first['field']}: {first['message']}", errors=errors)


async def _http(request: Request, fault: Exception) -> JSONResponse:
    assert isinstance(fault, HTTPException)
    kind = {404: "not-found", 405: "method-not-allowed"}.get(fault.status_code, "http-error")
    answer = problem(fault.status_code, kind, str(fault.detail), f"{request.method} {_printable(request.url.path)}")
    answer.headers.update(fault.headers or {})
    return answer


async def _unexpected(request: Request, fault: Exception) -> JSONResponse:
    log.error("unexpected fault in %s %s", request.method, request.url.path, exc_info=fault)
    answer = problem(
        500, "internal-error", "Internal error", "The fault was logged under this response's X-Request-ID."
    )
    # This answer is made outside of every middleware, which could have added what all answers carry.
    answer.headers.update({**SECURE, "X-Request-ID": request.scope.get("state", {}).get("request_id", "")})
    return answer


def _message(error: dict[str, Any]) -> str:
    if error["type"] == "string_unicode":
        return "the text holds half of a surrogate pair; send whole Unicode characters"
    return _printable(error["msg"]).removeprefix("Value error, ")


def _place(location: tuple[Any, ...]) -> str:
    """Where in the request: `body.task.text`. A field's name comes from the client, so it is made printable."""
    return _printable(".".join(str(part) for part in location))[:200]


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
