"""Several worker processes of one host, started, watched and stopped together."""

import logging
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

log = logging.getLogger(__name__)

TAKEN = 3
"""Exit status of a worker whose device another worker has; such a one is not started again."""

_PAUSE_S = 2.0
_LONGEST_PAUSE_S = 60.0


class Crew:
    """One worker for each device. One that dies is started again, after a pause that doubles."""

    def __init__(self, devices: Sequence[str], patience_s: float) -> None:
        self._devices = list(devices)
        self._patience_s = patience_s
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._due: dict[str, float] = dict.fromkeys(devices, 0.0)
        self._pauses: dict[str, float] = dict.fromkeys(devices, _PAUSE_S)
        self._stopping = False

    def tend(self) -> bool:
        """Starts whoever is due and notes who died; False when nobody is left and nobody will come."""
        for device, process in list(self._running.items()):
            status = process.poll()
            if status is None:
                continue
            del self._running[device]
            if status in (0, TAKEN):
                del self._due[device]
                continue
            log.error("the worker of %s ended with status %d and is started again", device, status)
            self._due[device] = time.monotonic() + self._pauses[device]
            self._pauses[device] = min(2 * self._pauses[device], _LONGEST_PAUSE_S)
        for device, moment in self._due.items():
            if device not in self._running and time.monotonic() >= moment and not self._stopping:
                self._running[device] = subprocess.Popen(worker_command(device))
        return bool(self._due)

    def stop(self) -> None:
        """Asks all of them to stop in good order, and waits for it."""
        self._stopping = True
        for process in self._running.values():
            process.send_signal(signal.SIGTERM)
        for process in self._running.values():
            try:
                process.wait(self._patience_s)
            except subprocess.TimeoutExpired:
                process.kill()

    def run(self) -> None:
        """Tends until SIGTERM or SIGINT. Main thread only."""

        def leave(_signal: int, _frame: object) -> None:
            self._stopping = True

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, leave)
        while not self._stopping and self.tend():
            time.sleep(0.2)
        self.stop()


def worker_command(device: str) -> list[str]:
    """The command of one worker: `cpu`, or a GPU's index."""
    return [sys.executable, "-m", "app.cli.main", "worker", "--gpu", device]
