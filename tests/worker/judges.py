"""A judge that implements the port without judging, and the worker process that runs with it.

`python -m tests.worker.judges HARDWARE SECONDS DIARY`: each run takes that long and is noted in the diary, a file,
when it begins and when it is judged. Kernels whose text says `fails here` fail.
"""

import logging
import os
import sys
import time
from pathlib import Path

from app.records import Run
from app.services.queue import Queue
from app.settings import Settings
from app.store import items
from app.store.database import Database
from app.store.work_orders import Outcome
from app.verification.watch import Watch
from app.worker.consumer import serve

FIGURES = {"flags": [], "detail": "", "evidence": {}, "phases": {"correctness": 0.6}, "seconds": 0.6}


class QuickJudge:
    """Finds every kernel verified, controls as they must be."""

    def __init__(self, database: Database, hardware: str, seconds: float, diary: Path) -> None:
        self.hardware = hardware
        self.evaluator = "1-quick"
        self.side_by_side = 2
        self._database, self._seconds, self._diary = database, seconds, diary

    def judge(self, run: Run, watch: Watch) -> Outcome:
        """Waits as a run would; a run that is stopped meanwhile ends at once."""
        self._note("begins", run)
        watch.phase = "correctness"
        if watch.wait(self._seconds):
            self._note("stopped", run)
            return Outcome("cancelled", None, {"figures": None, **FIGURES}, {"evaluator": self.evaluator})
        self._note("judged", run)
        return Outcome(self._verdict(run), None, {"figures": None, **FIGURES}, {"evaluator": self.evaluator})

    def close(self) -> None:
        """Nothing to let go of."""

    def _verdict(self, run: Run) -> str:
        if run.item_id is None:
            return "verified" if run.control == "reference" else "incorrect_value"
        with self._database.read() as session:
            item = items.get(session, run.item_id)
        return "runtime_error" if item is not None and "fails here" in item.text else "verified"

    def _note(self, what: str, run: Run) -> None:
        with self._diary.open("a") as file:
            file.write(f"{what} {run.id} {run.attempts} {os.getpid()} {time.time():.3f}\n")


def main() -> None:
    hardware, seconds, diary = sys.argv[1:4]
    logging.basicConfig(level="INFO")
    settings = Settings()
    database = Database(settings)
    serve(database, Queue(settings), QuickJudge(database, hardware, float(seconds), Path(diary)), "0")


if __name__ == "__main__":
    main()
