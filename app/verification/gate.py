"""Who may use the GPU: many runs that prepare and compare, or one that is timed."""

import contextlib
import signal
import threading
from collections.abc import Iterator

from app.verification import processes


class GpuGate:
    """A readers-writer lock in which a waiting timing run goes before new preparations.

    Imports and compilations hold no lock: their processes are stopped while another run is timed, so that neither the
    GPU nor the host's cores disturb it.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._preparing = 0
        self._waiting = 0
        self._timing = False
        self._pausable: set[int] = set()
        self._stopped: set[int] = set()

    @contextlib.contextmanager
    def shared(self) -> Iterator[None]:
        """Use the GPU beside others."""
        with self._condition:
            self._condition.wait_for(lambda: not self._timing and not self._waiting)
            self._preparing += 1
        try:
            yield
        finally:
            with self._condition:
                self._preparing -= 1
                self._condition.notify_all()

    @contextlib.contextmanager
    def pausable(self, pid: int) -> Iterator[None]:
        """Work in process `pid` and below it that may be stopped at any moment and continued later."""
        with self._condition:
            self._condition.wait_for(lambda: not self._timing)
            self._pausable.add(pid)
        try:
            yield
        finally:
            with self._condition:
                self._pausable.discard(pid)

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[None]:
        """Use the GPU alone."""
        with self._condition:
            self._waiting += 1
            self._condition.wait_for(lambda: not self._timing and not self._preparing)
            self._waiting -= 1
            self._timing = True
            self._stopped = set(self._pausable)
            for pid in self._stopped:
                processes.signal_tree(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            with self._condition:
                for pid in self._stopped:
                    processes.signal_tree(pid, signal.SIGCONT)
                self._timing = False
                self._condition.notify_all()
