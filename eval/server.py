"""A real server process for a benchmark, on a free port and a database of its own."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from eval.provenance import ROOT

LONGEST_START = 600
"""Seconds that a server may take to read a large corpus."""

_IDLE_TICKS = 10
"""Ticks of processor time in a second up to which a process only waits."""


@dataclass(frozen=True, slots=True)
class Running:
    """A server that is ready to answer."""

    url: str
    port: int
    process_id: int
    start_seconds: float
    """From the start of the process to its first `ready`."""

    def resident_memory(self) -> float | None:
        """Resident set of the process now, in megabytes; None where the system does not tell."""
        kilobytes = self._status("VmRSS")
        return None if kilobytes is None else round(kilobytes / 1024, 1)

    def peak_memory(self) -> int | None:
        """Largest resident set of the process so far, in bytes; None where the system does not tell."""
        kilobytes = self._status("VmHWM")
        return None if kilobytes is None else kilobytes * 1024

    def _status(self, field: str) -> int | None:
        try:
            lines = Path(f"/proc/{self.process_id}/status").read_text(encoding="utf-8").splitlines()
        except OSError:
            return None
        return next((int(line.split()[1]) for line in lines if line.startswith(field)), None)


@contextmanager
def server(var: Path, embedder: str) -> Iterator[str]:
    """URL of a server over the database in `var`, ready to answer."""
    with running(var, embedder) as found:
        yield found.url


@contextmanager
def running(var: Path, embedder: str, more: Mapping[str, str] | None = None) -> Iterator[Running]:
    """A server over the database in `var`, ready to answer; `more` joins its environment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli.main", "serve", "--port", str(port)],
        cwd=ROOT,
        env={**os.environ, **environment(var, embedder), "PLAYBOOK_LOG_LEVEL": "error", **(more or {})},
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url, process)
        _wait_for_all(process.pid)
        yield Running(url, port, process.pid, time.perf_counter() - began)
    finally:
        process.terminate()
        process.wait(timeout=30)


def environment(var: Path, embedder: str) -> dict[str, str]:
    """Settings of a benchmark's processes."""
    places = {"PLAYBOOK_VAR_DIR": str(var), "PLAYBOOK_DATABASE_URL": ""}
    return {**places, "PLAYBOOK_EMBEDDER": embedder, "PLAYBOOK_AUTH": "off"}


def _wait_for_all(process_id: int) -> None:
    """Waits while a child still works: of several server processes the first one that is ready answers for all."""
    while (children := _children(process_id)) and len(children) > 1:
        before = sum(map(_ticks, children))
        time.sleep(1.0)
        if sum(map(_ticks, children)) - before < _IDLE_TICKS:
            return


def _children(process_id: int) -> list[int]:
    try:
        text = Path(f"/proc/{process_id}/task/{process_id}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(number) for number in text.split()]


def _ticks(process_id: int) -> int:
    """Processor time of a process so far, in clock ticks; 0 for one that has ended."""
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + LONGEST_START
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with status {process.returncode}")
        try:
            if httpx.get(f"{url}/readyz", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise TimeoutError("the server did not become ready")
