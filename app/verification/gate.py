"""Who may use the GPU: many runs that prepare and compare, or one that is timed."""

import contextlib
import signal
import threading
from collections.abc import Iterator

from app.verification import processes


class GpuGate:
    """A readers-writer lock in which a waiting timing run goes before new preparations.

    Imports and compilations hold no lock: every process of the GPU is enrolled when it is started, and stands still
    while another run is timed, so that neither the GPU nor the host's cores disturb it.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._preparing = 0
        self._waiting = 0
        self._timing = False
        self._enrolled: set[int] = set()

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
    def between_timings(self) -> Iterator[None]:
        """A moment in which no run is timed and none can begin to be: for starting a process and enrolling it."""
        with self._condition:
            self._condition.wait_for(lambda: not self._timing)
            yield

    def enrol(self, pid: int) -> None:
        """From now on the process and all below it stand still while a run is timed that is not theirs."""
        self._enrolled.add(pid)

    def leave(self, pid: int) -> None:
        """The process is gone. Call it where no run can be timed: between timings or beside others."""
        self._enrolled.discard(pid)

    @contextlib.contextmanager
    def exclusive(self, *own: int) -> Iterator[None]:
        """Use the GPU alone, with the processes `own`; all others that are enrolled are stopped meanwhile."""
        with self._condition:
            self._waiting += 1
            self._condition.wait_for(lambda: not self._timing and not self._preparing)
            self._waiting -= 1
            self._timing = True
            stopped = self._enrolled - set(own)
            for pid in stopped:
                processes.signal_tree(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            with self._condition:
                for pid in stopped:
                    processes.signal_tree(pid, signal.SIGCONT)
                self._timing = False
                self._condition.notify_all()
