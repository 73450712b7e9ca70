"""The host's core that timed calls are launched from: the same one for all sides of a round, and a quick one.

On a shared host a core is as quick as its neighbours let it be. A call that waits for the host's launches takes as long
as its core makes it, and two processes on two cores are two races.
"""

import fcntl
import os
import random
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import IO

from app.verification.protocol import SLOW_CORE_FACTOR

_PROBES = 3
_PROBE_STEPS = 1500


class OneCore:
    """While entered, the main threads of the processes `pids` run on one core; `renew` moves them where it is slow.

    Cores that another timing of this host holds are left out. Where the host does not let processes be placed, nothing
    is done and `is_held` stays False.
    """

    def __init__(self, pids: list[int]) -> None:
        self._pids = pids
        self._allowed: set[int] = set()
        self._before: dict[int, set[int]] = {}
        self._core: int | None = None
        self._lock: IO[str] | None = None
        self._quickest = float("inf")

    @property
    def is_held(self) -> bool:
        """Whether the processes are on one core now."""
        return self._core is not None

    def __enter__(self) -> "OneCore":
        try:
            self._allowed = os.sched_getaffinity(0)
            self._before = {pid: os.sched_getaffinity(pid) for pid in self._pids}
        except (AttributeError, OSError):
            self._allowed = set()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()

    def renew(self) -> None:
        """Before a round: stay on a core that is quick still, else move to one that is, or to the quickest there is."""
        if len(self._allowed) < 2:
            return
        try:
            if self._core is None or not self._is_quick(self._probe(self._core)):
                self._move()
        finally:
            _place(0, self._allowed)

    def _move(self) -> None:
        """The first quick core in random order; the very first time all are tried, to know what quick is."""
        is_first = self._quickest == float("inf")
        times: dict[int, float] = {}
        for core in random.sample(sorted(self._allowed), len(self._allowed)):
            times[core] = self._probe(core)
            if not is_first and self._is_quick(times[core]) and self._take(core):
                return
        for core in sorted(times, key=times.__getitem__):
            if self._take(core):
                return

    def _is_quick(self, seconds: float) -> bool:
        return seconds <= SLOW_CORE_FACTOR * self._quickest

    def _probe(self, core: int) -> float:
        """Seconds of a short loop of this thread on that core, the best of a few."""
        if not _place(0, {core}):
            return float("inf")
        found = min(_loop_seconds() for _ in range(_PROBES))
        self._quickest = min(self._quickest, found)
        return found

    def leave(self, pid: int) -> None:
        """A process has ended: the others go on without it."""
        self._pids = [other for other in self._pids if other != pid]
        self._before.pop(pid, None)

    def _take(self, core: int) -> bool:
        """Put the processes there, all or none, unless another timing holds the core."""
        lock = self._lock if core == self._core else _locked(core)
        if lock is None:
            return False
        if all(_place(pid, {core}) for pid in self._pids):
            if lock is not self._lock:
                self._unlock()
            self._core, self._lock = core, lock
            return True
        if lock is not self._lock:
            lock.close()
        self._release()
        return False

    def _release(self) -> None:
        """Every process where it was before."""
        for pid, cores in self._before.items():
            _place(pid, cores)
        self._core = None
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _loop_seconds() -> float:
    started = time.perf_counter()
    table = {}
    for step in range(_PROBE_STEPS):
        table[step & 63] = str(step)
    return time.perf_counter() - started


def _place(pid: int, cores: set[int]) -> bool:
    try:
        os.sched_setaffinity(pid, cores)
    except (AttributeError, OSError):
        return False
    return True


def _locked(core: int) -> IO[str] | None:
    """A lock that all evaluators of this host know, or None where one of them has the core."""
    path = Path(tempfile.gettempdir()) / f"kernel-playbook-core-{core}.lock"
    try:
        file = path.open("a")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return None
    return file
