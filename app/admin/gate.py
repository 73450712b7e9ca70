"""What stands before every page: a signed-in session, the scope that the page asks for, and a token on every form.

A page cannot forget it: `DeskRoute` refuses to be made for a handler that does not say by `needs` who may use it.
"""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from app.admin.desk import Desk, desk_of
from app.admin.templating import rendered
from app.errors import PlaybookError
from app.vocabulary import Scope

Handler = TypeVar("Handler", bound=Callable[..., Any])

TOKEN = "csrf"
"""Name of the field that carries a form's token."""

SHOWN_TO_ALL = "shown to all"

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def needs(scope: Scope) -> Callable[[Handler], Handler]:
    """Declares the scope that a key must have to use a page."""

    def declare(handler: Handler) -> Handler:
        handler.needs = scope  # type: ignore[attr-defined]
        return handler

    return declare


def shown_to_all(handler: Handler) -> Handler:
    """Declares that a page is for whoever comes: signing in, and the files that pages are made of."""
    handler.needs = SHOWN_TO_ALL  # type: ignore[attr-defined]
    return handler


class DeskRoute(APIRoute):
    """A page of the desk."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.needs: Scope | str = endpoint.needs  # type: ignore[attr-defined]
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler behind the gate."""
        answer = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            try:
                desk = await run_in_threadpool(desk_of, request)
            except PlaybookError as fault:
                return HTMLResponse(rendered("unavailable.html", {"fault": fault}), fault.status, HEADERS)
            request.state.desk = desk
            try:
                response = await self._refusal(desk) or await answer(request)
            except PlaybookError as fault:
                response = await run_in_threadpool(desk.refused, fault.status, fault.title, fault.detail)
            except RequestValidationError as fault:
                response = await run_in_threadpool(desk.refused, 422, "Invalid input", _said(fault))
            return _sealed(desk, response)

        return guarded

    async def _refusal(self, desk: Desk) -> Response | None:
        """Why the request goes no further, as a page; None where it may."""
        request = desk.request
        if request.method == "POST":
            form = await request.form()
            desk.sent = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
            token = str(form.get(TOKEN, ""))
            if self.needs != SHOWN_TO_ALL and desk.caller is None:
                return await run_in_threadpool(desk.sign_in_first, token)
            if not desk.signer.is_token_of(desk.session, token):
                return await run_in_threadpool(desk.refused, 403, "The form was out of date", OUT_OF_DATE)
        elif self.needs != SHOWN_TO_ALL and desk.caller is None:
            return desk.to_sign_in()
        if isinstance(self.needs, Scope) and not desk.may(self.needs):
            return await run_in_threadpool(desk.refused, 403, "Not allowed", desk.lacks(self.needs))
        return None


OUT_OF_DATE = (
    "It did not come from a page of this session, so nothing was done. What you had typed is below: look at it, and "
    "send it again if it is yours."
)


def _said(fault: RequestValidationError) -> str:
    """What is wrong with a form, field by field."""
    faults = []
    for error in fault.errors():
        field = str(error["loc"][-1]).replace("_", " ") if error["loc"] else "the form"
        faults.append(f"{field}: {str(error['msg']).removeprefix('Value error, ')}")
    return "; ".join(faults[:5]) + "."


def _sealed(desk: Desk, response: Response) -> Response:
    """The response with what every page says to the browser, and with the cookie of a new session."""
    for name, value in HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("Cache-Control", "no-store")
    if desk.is_new:
        desk.signer.keep(response, desk.session, https=desk.is_https)
    return response
