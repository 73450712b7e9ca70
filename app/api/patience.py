"""How much the service puts up with: requests at once, slow clients, pages of strangers."""

import asyncio
import logging
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from app.api.problem_details import explained
from app.errors import Overloaded, TooSlow

log = logging.getLogger(__name__)

ALWAYS_ANSWERED = frozenset({"/healthz", "/readyz", "/metrics"})
"""What must be answered under load most of all."""


class BackPressure:
    """Refuses what comes beyond `most` requests at once, quickly and kindly, instead of letting everybody wait."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or answers 503 with Retry-After."""
        if scope["type"] != "http" or scope["path"] in ALWAYS_ANSWERED:
            await self._app(scope, receive, send)
            return
        if self._running >= self._most:
            fault = Overloaded(f"{self._most} requests are being answered already. Try again in a second.")
            await explained(fault)(scope, receive, send)
            return
        self._running += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._running -= 1


class _GaveUp(Exception):
    """Ends a request from within; no handler of the routes may take it for an answer."""


class SlowClients:
    """Gives up on a client that takes longer than `seconds` to send its body, or to take a piece of the answer."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on with patience that ends."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        deadline = asyncio.get_running_loop().time() + self._seconds
        whole = answering = False

        async def receive_in_time() -> Message:
            nonlocal whole
            if whole:
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError as fault:
                raise _GaveUp(f"The body was not whole after {self._seconds:g} s.") from fault
            whole = not message.get("more_body", False)
            return message

        async def send_in_time(message: Message) -> None:
            nonlocal answering
            answering = True
            try:
                async with asyncio.timeout(self._seconds):
                    await send(message)
            except TimeoutError as fault:
                raise _GaveUp(f"The client took no piece of the answer for {self._seconds:g} s.") from fault

        try:
            await self._app(scope, receive_in_time, send_in_time)
        except _GaveUp as fault:
            log.warning("gave up on a slow client: %s", fault)
            if not answering:
                refusal = explained(TooSlow(f"{fault} Send it faster, or raise PLAYBOOK_PATIENCE_SECONDS."))
                refusal.headers["Connection"] = "close"
                await refusal(scope, receive, send)


class HeadInTime(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's protocol, which also closes a connection whose request's head is not whole in time.

    How long that is comes from the service's lifespan, as `patience_seconds`.
    """

    def connection_made(self, transport: Any) -> None:
        """Starts the clock."""
        super().connection_made(transport)
        self._clock: asyncio.TimerHandle | None = self._started()

    def data_received(self, data: bytes) -> None:
        """Stops the clock once a request is being answered, and starts it where only a part of a head has come."""
        super().data_received(data)
        if self._answering():
            self._stop()
        elif self._clock is None:
            self._clock = self._started()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the clock."""
        self._stop()
        super().connection_lost(exc)

    def _started(self) -> asyncio.TimerHandle:
        clock: asyncio.TimerHandle = self.loop.call_later(self.app_state["patience_seconds"], self._give_up)
        return clock

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _give_up(self) -> None:
        self._clock = None
        if not self._answering() and not self.transport.is_closing():
            self.transport.close()
