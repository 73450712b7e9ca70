"""The port through which a worker has a run judged, and the protected evaluator behind it."""

from pathlib import Path
from typing import Protocol

from app.errors import InvalidInput
from app.records import Run
from app.services import ordered
from app.services.verifying import outcome_of
from app.services.work_orders import INTERPRETER
from app.store.database import Database
from app.store.work_orders import Outcome
from app.verification.fingerprint import evaluator_version
from app.verification.gpus import gpu_names
from app.verification.lane import Lane
from app.verification.protocol import CPU_LIMITS, GPU_LIMITS
from app.verification.watch import Watch


class Judge(Protocol):
    """Judges runs on one device; `judge` may be called from `side_by_side` threads at once."""

    hardware: str
    evaluator: str
    side_by_side: int

    def judge(self, run: Run, watch: Watch) -> Outcome:
        """What the run found. InvalidInput where this worker lacks what it needs."""
        ...

    def close(self) -> None:
        """Lets go of the device."""
        ...


class EvaluatorJudge:
    """The protected evaluator on one GPU, or (gpu None) in Triton's interpreter."""

    def __init__(self, database: Database, gpu: int | None, folders: list[Path]) -> None:
        self.hardware = INTERPRETER if gpu is None else _name_of(gpu)
        self.evaluator = evaluator_version()
        self._lane = Lane("cpu", CPU_LIMITS) if gpu is None else Lane(f"cuda:{gpu}", GPU_LIMITS)
        self.side_by_side = self._lane.count
        self._database = database
        self._folders = folders

    def judge(self, run: Run, watch: Watch) -> Outcome:
        """Judges a kernel, or a control of a night."""
        return outcome_of(self._lane.judge(ordered.job_of(self._database, run, self._folders), watch))

    def close(self) -> None:
        """Ends the references that are kept."""
        self._lane.close()


def _name_of(gpu: int) -> str:
    names = gpu_names()
    if gpu not in names:
        there = ", ".join(f"{index} ({name})" for index, name in names.items()) or "none"
        raise InvalidInput(f"There is no GPU {gpu} here; nvidia-smi shows: {there}. --gpu cpu judges without one.")
    return names[gpu]
