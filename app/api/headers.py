"""Headers that tell browsers to do nothing with an answer but show it."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECURE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
"""For every answer that does not say otherwise itself, as the pages of the admin UI do."""

_DOCS = (
    "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; connect-src 'self'; "
    "script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
)
_POLICIES = {"/docs": _DOCS}


class SecurityHeaders:
    """Adds the headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if scope["path"] in _POLICIES:
                    headers.setdefault("Content-Security-Policy", _POLICIES[scope["path"]])
                for name, value in SECURE.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_secured)
