"""When a call is sent again, and how long to wait before."""

import random
from dataclasses import dataclass
from typing import Any

import httpx

from playbook_client.calls import Call

REFUSED = frozenset({429, 503})
"""The service did nothing: any call may be sent again."""

UNCERTAIN = frozenset({502, 504})
"""Something in between failed: only what may be sent twice is sent again."""


@dataclass(frozen=True, slots=True)
class Retries:
    """At most `times` more tries; waits double from `first` seconds up to `longest`, less a random part."""

    times: int = 3
    first: float = 0.25
    longest: float = 10.0

    def wait(self, number: int, answer: httpx.Response | None = None) -> float:
        """Seconds before try `number` (from 1); what the service asks for by Retry-After, where it does."""
        asked = answer.headers.get("Retry-After", "") if answer is not None else ""
        if asked.isascii() and asked.isdigit():
            return min(float(asked), self.longest)
        return min(self.first * 2.0 ** (number - 1), self.longest) * random.uniform(0.5, 1.0)


def again_after(call: Call[Any], outcome: httpx.Response | httpx.TransportError) -> bool:
    """Whether a call that came out like this may be sent again."""
    if isinstance(outcome, httpx.Response):
        return outcome.status_code in REFUSED or (call.repeatable and outcome.status_code in UNCERTAIN)
    return call.repeatable or isinstance(outcome, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
