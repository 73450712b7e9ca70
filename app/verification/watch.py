"""One run as somebody outside sees it: what it is at, and a way to end it."""

import signal
import threading
from collections.abc import Callable

from app.verification import processes
from app.verification.child import Child


class Watch:
    """Hand one to a run, read its phase meanwhile, and stop it where nobody wants its verdict any more.

    A stopped run ends as `cancelled`, whatever its candidate did.
    """

    def __init__(self, on_phase: Callable[[str], None] = lambda _phase: None) -> None:
        self.phase = "waiting"
        self._on_phase = on_phase
        self._children: list[Child] = []
        self._stopped = threading.Event()
        self._lock = threading.Lock()

    @property
    def is_stopped(self) -> bool:
        """Whether the run was told to end."""
        return self._stopped.is_set()

    def enter(self, phase: str) -> None:
        """The run begins a phase; told by the thread that judges."""
        self.phase = phase
        self._on_phase(phase)

    def attach(self, *children: Child) -> None:
        """Processes of the run, to be ended with it."""
        with self._lock:
            self._children += children
        if self.is_stopped:
            self.stop()

    def detach(self) -> None:
        """The processes are no longer this run's: the reference may serve another one."""
        with self._lock:
            self._children.clear()

    def stop(self) -> None:
        """End the run's processes at once; whoever waits for their answers learns that they died."""
        self._stopped.set()
        with self._lock:
            for child in self._children:
                processes.signal_tree(child.process.pid, signal.SIGKILL)

    def wait(self, seconds: float) -> bool:
        """Sleep until the run is stopped, or so long; whether it was stopped."""
        return self._stopped.wait(seconds)
