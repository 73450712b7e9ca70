"""Tells a webhook of a night's regressions: signed, retried, and never sent into a network it has no business in."""

import hashlib
import hmac
import json
import logging
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import httpx

from app.errors import InvalidInput
from app.services.nights import get_night
from app.services.outgoing import checked_target
from app.settings import Settings
from app.store import clock, nights
from app.store.database import Database

log = logging.getLogger(__name__)

SIGNATURE, TIMESTAMP = "X-Playbook-Signature", "X-Playbook-Timestamp"
_PAUSES_S = (1.0, 5.0, 25.0)
_TIMEOUT_S = 10.0
_LEFT_BEHIND = timedelta(minutes=10)
"""After this time a night that was closed and not told was left behind by its scheduler; another one tells it."""

_PERMANENT = range(400, 500)
_PASSING = (408, 425, 429)
"""Refusals that another try may overcome; others of the four hundreds will not change."""


def tell(database: Database, date: str, *, is_opener: bool, pause: Callable[[float], None] = time.sleep) -> bool | None:
    """Sends a night's regressions; None where there is nothing to tell or nobody to tell, else whether it was taken.

    The scheduler that opened the night tells it. A receiver may get the same news twice and knows it by `id`.
    """
    settings = database.settings
    night = get_night(database, date)
    if not settings.webhook_url or night.notified_at is not None or night.summary is None or night.closed_at is None:
        return None
    if not night.summary["regressed"]:
        return None
    with database.read() as session:
        left_behind = clock.now(session) - night.closed_at > _LEFT_BEHIND
    if not (is_opener or left_behind):
        return None
    taken = deliver(settings, news_of(date, night.summary), pause)
    if taken:
        with database.write() as session:
            nights.note_told(session, date)
    return taken


def news_of(date: str, summary: Mapping[str, Any]) -> dict[str, Any]:
    """What is told."""
    return {
        "id": f"night-{date}",
        "event": "night.regressed",
        "night": date,
        "regressed": summary["regressed"],
        "counts": summary["counts"],
    }


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC-SHA256 over `timestamp.body`, so that neither can be changed nor an old message sent again later."""
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def deliver(settings: Settings, news: Mapping[str, Any], pause: Callable[[float], None] = time.sleep) -> bool:
    """Posts the news until the receiver takes it or refuses it for good; False where it did not take it."""
    body = json.dumps(news, ensure_ascii=False).encode()
    for wait in (*_PAUSES_S, None):
        try:
            status = _post(settings, body)
        except InvalidInput as fault:
            log.error("the webhook is not used: %s", fault.detail)
            return False
        except (httpx.HTTPError, OSError) as fault:
            log.warning("the webhook does not answer: %s", fault)
            status = 0
        if 200 <= status < 300:
            return True
        log.warning("the webhook answered %d", status)
        if 300 <= status < 400 or (status in _PERMANENT and status not in _PASSING):
            return False
        if wait is not None:
            pause(wait)
    return False


def _post(settings: Settings, body: bytes) -> int:
    target = checked_target(settings.webhook_url, allow_private=settings.webhook_private)
    timestamp = str(int(time.time()))
    headers = {"Host": target.host_header, "Content-Type": "application/json", TIMESTAMP: timestamp}
    if settings.webhook_secret:
        headers[SIGNATURE] = f"sha256={signature(settings.webhook_secret, timestamp, body)}"
    # The address that was checked is the one that is called: a name that resolves anew could lead elsewhere.
    with httpx.Client(trust_env=False, follow_redirects=False, timeout=_TIMEOUT_S) as client:
        request = client.build_request(
            "POST", target.url, content=body, headers=headers, extensions={"sni_hostname": target.host}
        )
        answer = client.send(request, stream=True)
        answer.close()
        return answer.status_code
