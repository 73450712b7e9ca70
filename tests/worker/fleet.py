"""Real worker processes for tests, and what they leave in their diary and in the database."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from app.records import Run
from app.settings import Settings
from app.store import corpus, runs
from app.store.database import Database
from app.vocabulary import RunState
from tests.conftest import ROOT
from tests.service.processes import environment

H200 = "NVIDIA H200"
FAST = {"PLAYBOOK_HEARTBEAT_S": "0.3", "PLAYBOOK_WORKER_SILENCE_S": "3", "PLAYBOOK_STOP_GRACE_S": "5"}
"""A worker that beats fast and whose silence is noticed soon, with room for a busy machine."""


class Crew:
    """Workers of one test."""

    def __init__(self, settings: Settings, folder: Path, **more: str) -> None:
        self.diary = folder / "diary"
        self.diary.touch()
        self._environment = environment(settings, PLAYBOOK_QUEUE_URL=settings.queue_url, **{**FAST, **more})
        self._log = (folder / "workers.log").open("ab")
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, seconds: float, hardware: str = H200) -> subprocess.Popen[bytes]:
        """A worker whose runs take so long each."""
        command = [sys.executable, "-m", "tests.worker.judges", hardware, str(seconds), str(self.diary)]
        process = subprocess.Popen(command, env=self._environment, cwd=ROOT, stdout=self._log, stderr=subprocess.STDOUT)
        self.running.append(process)
        return process

    def entries(self, what: str) -> list[tuple[str, int, int]]:
        """(run id, attempt, process) of every entry of one kind."""
        lines = [line.split() for line in self.diary.read_text().splitlines()]
        return [(line[1], int(line[2]), int(line[3])) for line in lines if line[0] == what and len(line) == 5]

    def stop(self) -> None:
        """Ends all of them."""
        for process in self.running:
            if process.poll() is None:
                process.kill()
            process.wait()
        self._log.close()


@contextmanager
def crew(settings: Settings, folder: Path, **more: str) -> Iterator[Crew]:
    """Workers that are gone when the test ends."""
    hired = Crew(settings, folder, **more)
    try:
        yield hired
    finally:
        hired.stop()


def until(holds: Callable[[], bool], what: str, seconds: float = 180) -> None:
    """Waits for something to become true."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.1)


def kernel_ids(database: Database, count: int | None = None) -> list[str]:
    """Kernels of the database."""
    with database.read() as session:
        found = [item.id for item in corpus.items_since(session, -1) if item.kernel]
    return found[:count]


def all_runs(database: Database) -> list[Run]:
    """Every run of the database."""
    with database.read() as session:
        return runs.page(session, after=None, limit=1000).runs


def all_finished(database: Database) -> bool:
    """Whether every run has its verdict."""
    return all(run.state == RunState.FINISHED for run in all_runs(database))
