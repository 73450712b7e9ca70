"""The queue that wakes workers: Huey, with one queue for each kind of hardware.

A message is the id of a run, no more. The run's row in SQL is the truth: a message that is lost is offered again by a
sweep, one that comes twice finds its row claimed. So a queue that is down loses nothing and fails nobody's request.
"""

import json
import logging
import re
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

from huey import Huey
from huey.registry import Message
from huey.serializer import Serializer
from huey.storage import PostgresStorage, RedisStorage, SqliteStorage

from app.errors import InvalidInput
from app.settings import Settings

log = logging.getLogger(__name__)

TASK = "judge"
Judge = Callable[[str], None]


class JsonMessages(Serializer):  # type: ignore[misc]
    """Messages as JSON, so that a queue can neither be made to run code nor tie two versions together."""

    def _serialize(self, data: Any) -> bytes:
        return json.dumps(data).encode()

    def _deserialize(self, data: bytes) -> Message:
        return Message(*json.loads(data))


class Queue:
    """Queues of this installation, in a SQLite file under the var folder, in PostgreSQL or in Redis."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: dict[str, Huey] = {}

    def offer(self, hardware: str, run_ids: Iterable[str]) -> bool:
        """Tells the workers of some hardware that runs wait; False where the queue does not answer."""
        try:
            huey = self._client(hardware)
            for run_id in run_ids:
                huey.enqueue(huey._registry.string_to_task(f"{__name__}.{TASK}")((run_id,), {}))
        except faults() as fault:
            log.warning("the queue does not answer, a sweep will offer the runs again: %s", fault)
            return False
        return True

    def waiting(self, hardware: str) -> int | None:
        """How many messages wait; None where the queue does not answer."""
        try:
            return int(self._client(hardware).pending_count())
        except faults() as fault:
            log.warning("the queue does not answer: %s", fault)
            return None

    def for_worker(self, hardware: str, judge: Judge) -> Huey:
        """The queue of some hardware, for a consumer that calls `judge` with each run's id."""
        return self._made(hardware, judge)

    def _client(self, hardware: str) -> Huey:
        if hardware not in self._open:
            self._open[hardware] = self._made(hardware, _elsewhere)
        return self._open[hardware]

    def _made(self, hardware: str, judge: Judge) -> Huey:
        storage, where = _storage(self._settings)
        huey = Huey(queue_name(hardware), results=False, serializer=JsonMessages(), storage_class=storage, **where)

        def judged(run_id: str) -> None:
            judge(run_id)

        judged.__module__ = __name__
        huey.task(name=TASK)(judged)
        return huey


def queue_name(hardware: str) -> str:
    """`NVIDIA H200` -> `playbook-nvidia-h200`."""
    return "playbook-" + re.sub(r"[^a-z0-9]+", "-", hardware.lower()).strip("-")


def faults() -> tuple[type[BaseException], ...]:
    """What a queue's store raises when it does not answer; drivers that are not installed aside."""
    known: list[type[BaseException]] = [sqlite3.Error, OSError]
    try:
        import psycopg

        known.append(psycopg.Error)
    except ModuleNotFoundError:
        pass
    try:
        import redis

        known.append(redis.RedisError)
    except ModuleNotFoundError:
        pass
    return tuple(known)


def _storage(settings: Settings) -> tuple[type[Any], dict[str, Any]]:
    url = settings.queue_url
    if not url:
        settings.var_dir.mkdir(parents=True, exist_ok=True)
        return SqliteStorage, {"filename": str(settings.var_dir / "queue.sqlite3")}
    scheme = url.split("://", 1)[0]
    if scheme in ("postgresql", "postgres"):
        return PostgresStorage, {"dsn": url}
    if scheme in ("redis", "rediss"):
        return RedisStorage, {"url": url}
    raise InvalidInput("PLAYBOOK_QUEUE_URL begins with postgresql:// or redis://; empty means a SQLite file.")


def _elsewhere(run_id: str) -> None:
    """A client offers runs and judges none."""
    raise AssertionError(f"{run_id} was offered by this process and can only be judged by a worker")
