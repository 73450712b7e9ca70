"""A device belongs to one worker of its host: two would time beside each other."""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.errors import Conflict


@contextmanager
def held(device: str) -> Iterator[None]:
    """Holds a GPU for this process, as long as it lives; Conflict where another process has it. The CPU has room."""
    if device == "cpu":
        yield
        return
    with (Path(tempfile.gettempdir()) / f"kernel-playbook-gpu-{device}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            raise Conflict(f"GPU {device} is served by another worker of this host.") from fault
        yield
