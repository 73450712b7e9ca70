"""Real processes of the product: a server on a free port, a command."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

import httpx

from app.settings import Settings
from tests.conftest import ROOT

_PROCESSES: dict[str, int] = {}
_LOGS: dict[str, IO[bytes]] = {}
COMMAND = [sys.executable, "-m", "app.cli.main"]


def environment(settings: Settings, **more: str) -> dict[str, str]:
    """Environment of a process that works with these settings."""
    return {
        **os.environ,
        "PLAYBOOK_VAR_DIR": str(settings.var_dir),
        "PLAYBOOK_DATABASE_URL": settings.database_url,
        "PLAYBOOK_EMBEDDER": settings.embedder.value,
        "PYTHONPATH": str(ROOT),
        "NO_COLOR": "1",
        "COLUMNS": "200",
        **more,
    }


def command(settings: Settings, *arguments: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    """Runs `playbook` to its end."""
    return subprocess.run(
        [*COMMAND, *arguments],
        env=environment(settings, **more),
        cwd=ROOT,
        capture_output=True,
        timeout=120,
        check=False,
    )


def started(settings: Settings, *arguments: str, log: IO[bytes] | None = None, **more: str) -> subprocess.Popen[bytes]:
    """Starts `playbook` and returns at once. What it prints goes to a file: a pipe that nobody reads would stop it."""
    output = log or subprocess.DEVNULL
    return subprocess.Popen(
        [*COMMAND, *arguments], env=environment(settings, **more), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=output
    )


def printed(url: str) -> str:
    """What the server under a URL has printed so far. Read without moving the place at which it goes on writing."""
    return os.pread(_LOGS[url].fileno(), 1 << 20, 0).decode()


@contextmanager
def servers(
    settings: Settings, count: int = 1, more: Sequence[str] = (), **surroundings: str
) -> Iterator[Sequence[str]]:
    """URLs of so many server processes on one database, all ready.

    `more` are further arguments of `serve`, `surroundings` join their environment.
    """
    ports = [free_port() for _ in range(count)]
    _PROCESSES.clear()
    logs = [tempfile.TemporaryFile() for _ in ports]  # noqa: SIM115  closed below, after the servers
    running = [
        started(settings, "serve", "--port", str(port), *more, log=log, **surroundings)
        for port, log in zip(ports, logs, strict=True)
    ]
    try:
        urls = [f"http://127.0.0.1:{port}" for port in ports]
        for url, process, log in zip(urls, running, logs, strict=True):
            _PROCESSES[url], _LOGS[url] = process.pid, log
            _wait_until_ready(url, process, log)
        yield urls
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(timeout=30)
        for log in logs:
            log.close()


def process_id(url: str) -> int:
    """Process that serves a URL of `servers`."""
    return _PROCESSES[url]


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: IO[bytes]) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        if process.poll() is not None:
            log.seek(0)
            raise AssertionError(f"the server ended: {log.read().decode()}")
        try:
            if httpx.get(f"{url}/readyz", timeout=2).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the server did not become ready")
