"""A worker process: one device, one consumer of its queue, one attendance that beats and sweeps."""

import logging
import os
import socket
import threading
import time

from app.errors import DatabaseUnavailable
from app.services import work_orders
from app.services.queue import Queue
from app.store import workers
from app.store.database import Database
from app.worker.duty import Duty
from app.worker.judging import Judge

log = logging.getLogger(__name__)

POLL_S = 0.5
"""The longest an idle worker sleeps between two looks into its queue; Huey's own choice is ten seconds."""

_LEAVING_S = 15.0
"""How long runs that were told to end may take for it."""


def serve(database: Database, queue: Queue, judge: Judge, device: str) -> None:
    """Works until SIGTERM (finishing what is under way, for a while) or SIGINT (putting it back). Main thread only."""
    name = f"{socket.gethostname()}:{os.getpid()}:{device}"
    duty = Duty(database, judge, name)
    consumer = queue.for_worker(judge.hardware, duty.perform).create_consumer(
        workers=judge.side_by_side,
        periodic=False,
        initial_delay=0.1,
        max_delay=POLL_S,
        scheduler_interval=60,
        shutdown_timeout=database.settings.stop_grace_s,
        graceful_signal="TERM",
    )
    attendance = Attendance(database, queue, judge, name)
    attendance.start()
    log.info("worker %s judges on %s, %d runs side by side", name, judge.hardware, judge.side_by_side)
    try:
        consumer.run()
    finally:
        duty.give_back()
        deadline = time.monotonic() + _LEAVING_S
        while not duty.is_idle and time.monotonic() < deadline:
            time.sleep(0.05)
        attendance.stop()
        judge.close()


class Attendance:
    """Says that the worker lives, and sweeps up after workers that do not. Every worker does; once is enough."""

    def __init__(self, database: Database, queue: Queue, judge: Judge, name: str) -> None:
        self._database, self._queue, self._judge, self._name = database, queue, judge, name
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._attend, name="attendance", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends, and says that the worker leaves."""
        self._over.set()
        self._thread.join()
        try:
            with self._database.write() as session:
                workers.leave(session, self._name)
        except DatabaseUnavailable as fault:
            log.warning("could not say goodbye: %s", fault.detail)

    def _attend(self) -> None:
        arrived = False
        while True:
            try:
                with self._database.write() as session:
                    if arrived:
                        workers.beat(session, self._name)
                    else:
                        workers.arrive(session, self._name, self._judge.hardware, self._judge.evaluator)
                arrived = True
                swept = work_orders.sweep(self._database, self._queue)
                for run_id, _ in swept.requeued:
                    log.warning("run %s waits again: its worker fell silent", run_id)
                for run_id in swept.given_up:
                    log.error("run %s is given up: too many workers fell silent over it", run_id)
            except DatabaseUnavailable as fault:
                log.warning("%s", fault.detail)
            if self._over.wait(self._database.settings.heartbeat_s):
                return
