"""How often a key may call: token buckets in memory, one for reading and one for writing.

They run on the monotonic clock, so a wall clock that jumps neither locks a key out nor lets it through.
"""

import math
import threading
import time
from dataclasses import dataclass

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.api.problem_details import explained
from app.errors import TooManyRequests
from app.records import Caller

WINDOW = 60.0
"""Seconds in which an empty bucket fills."""

MOST_BUCKETS = 20_000

READ_BY_POST = frozenset({"/v1/search", "/v1/context"})
"""Paths that are read by POST, because a task does not fit into a URL."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of asking a bucket for one request."""

    allowed: bool
    remaining: int
    full_after: int
    """Seconds until the bucket is full again."""
    next_after: int
    """Seconds until one more request fits; 0 where one does now."""


class Buckets:
    """Buckets of `limit` requests each, which fill once in a window."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._levels: dict[str, tuple[float, float]] = {}
        """Holder -> (requests that were left, moment)."""

    def take(self, holder: str) -> Taken:
        """Takes one request out of the holder's bucket, if one is left."""
        now = time.monotonic()
        rate = self.limit / WINDOW
        with self._lock:
            left, at = self._levels.get(holder, (float(self.limit), now))
            left = min(float(self.limit), left + (now - at) * rate)
            allowed = left >= 1.0
            left -= allowed
            if len(self._levels) >= MOST_BUCKETS and holder not in self._levels:
                self._levels = self._not_full(now, rate)
            self._levels[holder] = (left, now)
        wait = 0 if left >= 1.0 else math.ceil((1.0 - left) / rate)
        return Taken(allowed, int(left), math.ceil((self.limit - left) / rate), wait)

    def _not_full(self, now: float, rate: float) -> dict[str, tuple[float, float]]:
        """The buckets without those that have filled up: a full one is like none."""
        return {
            holder: (left, at) for holder, (left, at) in self._levels.items() if left + (now - at) * rate < self.limit
        }


class RateLimit:
    """Answers 429 once a key's bucket is empty, and tells every caller how much is left. A limit of 0 is none.

    Callers without a key pass: where keys are off, there is nobody to tell from anybody else.
    """

    def __init__(self, app: ASGIApp, reads: int, writes: int) -> None:
        self._app = app
        self._reads = Buckets(reads) if reads else None
        self._writes = Buckets(writes) if writes else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or refuses it."""
        caller: Caller | None = scope.get("state", {}).get("caller")
        buckets = self._buckets(scope) if caller is not None and caller.key_id is not None else None
        if buckets is None or caller is None or caller.key_id is None:
            await self._app(scope, receive, send)
            return
        taken = buckets.take(caller.key_id)
        headers = {
            "RateLimit-Limit": str(buckets.limit),
            "RateLimit-Remaining": str(taken.remaining),
            "RateLimit-Reset": str(taken.full_after),
            "RateLimit-Policy": f"{buckets.limit};w={WINDOW:.0f}",
        }

        async def send_with_limits(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        if taken.allowed:
            await self._app(scope, receive, send_with_limits)
            return
        headers["Retry-After"] = str(taken.next_after)
        fault = TooManyRequests(
            f"The key {caller.name!r} has used up its {buckets.limit} requests in {WINDOW:.0f} seconds. "
            f"Try again in {taken.next_after} s."
        )
        await explained(fault)(scope, receive, send_with_limits)

    def _buckets(self, scope: Scope) -> Buckets | None:
        reads = scope["method"] in ("GET", "HEAD") or scope["path"] in READ_BY_POST
        return self._reads if reads else self._writes
