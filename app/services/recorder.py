"""Keeps what was shown and what was done, without making anybody wait for the disk."""

import logging
import queue
import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from app.errors import PlaybookError
from app.store.database import Database, Session

T = TypeVar("T")

log = logging.getLogger(__name__)

WAITING = 10_000
"""Records that may wait; beyond it, answers wait for the disk rather than lose one."""

BATCH = 500

PATIENCE = 0.2
"""Seconds that the first record of a batch waits for others, unless somebody wants to read them."""


class Recorder(Generic[T]):
    """Writes records of one kind in the background, a batch a transaction. `what` names them in the log."""

    def __init__(self, database: Database, what: str, put: Callable[[Session, Iterable[T]], None]) -> None:
        self._database = database
        self._what = what
        self._put = put
        self._waiting: queue.Queue[T | None] = queue.Queue(WAITING)
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._wanted = threading.Event()

    def keep(self, record: T) -> None:
        """Takes a record; it is in the database soon after."""
        self._ensure_thread()
        self._waiting.put(record)

    @property
    def waiting(self) -> int:
        """Records that are not in the database yet."""
        return self._waiting.qsize()

    def flush(self) -> None:
        """Returns once everything that was taken is in the database."""
        if self._thread is not None:
            self._ensure_thread()
            self._wanted.set()
            self._waiting.join()
            self._wanted.clear()

    def close(self) -> None:
        """Writes what waits, and ends."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._wanted.set()
            self._waiting.put(None)
            thread.join()

    def _ensure_thread(self) -> None:
        """Starts the thread, and again should it have died of a fault that nobody thought of."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name=f"recorder of {self._what}", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            batch = [self._waiting.get()]
            self._wanted.wait(PATIENCE)
            while len(batch) < BATCH and not self._waiting.empty():
                batch.append(self._waiting.get_nowait())
            try:
                self._write(record for record in batch if record is not None)
            finally:
                for _ in batch:
                    self._waiting.task_done()
            if None in batch:
                return

    def _write(self, records: Iterable[T]) -> None:
        try:
            with self._database.write() as session:
                self._put(session, records)
        except PlaybookError as fault:
            log.error("%s were not kept: %s", self._what, fault.detail)
