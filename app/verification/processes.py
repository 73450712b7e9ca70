"""Processes that a run started: finding all of them, and ending all of them, also those that left the group."""

import os
import signal
import time
from pathlib import Path

MARKER = "KPB_RUN"
"""Environment variable that carries the run's nonce into every process it starts."""


def descendants(root: int) -> list[int]:
    """Ids of all live processes below `root` (not itself), by one pass over /proc. Threads do not count."""
    children: dict[int, list[int]] = {}
    for entry in _process_ids():
        parent = _parent(entry)
        if parent is not None:
            children.setdefault(parent, []).append(entry)
    found: list[int] = []
    frontier = [root]
    while frontier:
        below = children.get(frontier.pop(), [])
        found += below
        frontier += below
    return found


def marked(nonce: str) -> list[int]:
    """Ids of live processes whose environment carries the run's nonce: those reparented elsewhere are found too."""
    needle = f"{MARKER}={nonce}".encode()
    return [pid for pid in _process_ids() if pid != os.getpid() and needle in _environment(pid)]


def signal_tree(root: int, number: int) -> None:
    """Send a signal to `root` and to everything below it; twice, as a fork may slip through the first time."""
    for _ in range(2):
        for pid in [root, *descendants(root)]:
            _signal(pid, number)


def end_all(root: int, nonce: str, patience_s: float = 10.0) -> bool:
    """End `root`, its process group, what is below it and what carries the nonce. True when nothing is left.

    SIGTERM first, so that a sandbox may clean up; SIGKILL for whatever is still there 0.1 s later, until nothing is.
    """
    known = {root, *descendants(root)}
    _signal_group(root, signal.SIGTERM)
    time.sleep(0.1)
    deadline = time.monotonic() + patience_s
    while True:
        known |= set(descendants(root)) | set(marked(nonce))
        left = [pid for pid in known if _is_alive(pid)]
        if not left:
            return True
        if time.monotonic() > deadline:
            return False
        _signal_group(root, signal.SIGKILL)
        for pid in left:
            _signal(pid, signal.SIGKILL)
        _reap(root)
        time.sleep(0.02)


def _process_ids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _parent(pid: int) -> int | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    after_name = fields[fields.rfind(b")") + 2 :].split()
    return None if after_name[0] in (b"Z", b"X") else int(after_name[1])


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def _is_alive(pid: int) -> bool:
    return _parent(pid) is not None


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _signal_group(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return
