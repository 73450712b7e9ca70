"""A memory and process cap by cgroup v2, where this host lets us write one. Elsewhere the run says that it had none."""

import contextlib
import time
import uuid
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
NEEDED = ("memory", "pids")


class Cgroup:
    """One cgroup for one child. Create with `open_cgroup`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def joining_file(self) -> Path:
        """File into which a process writes its id to enter."""
        return self.path / "cgroup.procs"

    def was_killed_for_memory(self) -> bool:
        """Whether the kernel ended a process here because the memory cap was reached."""
        try:
            events = dict(line.split() for line in (self.path / "memory.events").read_text().splitlines())
        except OSError:
            return False
        return int(events.get("oom_kill", 0)) > 0

    def close(self) -> None:
        """End whatever is inside and remove the group. A group that cannot be removed yet is left empty."""
        with contextlib.suppress(OSError):
            (self.path / "cgroup.kill").write_text("1")
        for _ in range(50):
            try:
                self.path.rmdir()
            except OSError:
                time.sleep(0.02)
            else:
                return


def open_cgroup(memory: int, processes: int) -> Cgroup | None:
    """A new cgroup with caps in bytes and processes, or None where cgroup v2 or the right to write it is missing."""
    try:
        offered = (ROOT / "cgroup.controllers").read_text().split()
        if not set(NEEDED) <= set(offered):
            return None
        enabled = (ROOT / "cgroup.subtree_control").read_text().split()
        missing = [name for name in NEEDED if name not in enabled]
        if missing:
            (ROOT / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in missing))
        path = ROOT / f"kpb-{uuid.uuid4().hex[:12]}"
        path.mkdir()
        (path / "memory.max").write_text(str(memory))
        (path / "pids.max").write_text(str(processes))
    except OSError:
        return None
    swap = path / "memory.swap.max"
    if swap.exists():
        swap.write_text("0")
    return Cgroup(path)
