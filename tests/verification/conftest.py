import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.verification import CPU_LIMITS, GPU_LIMITS, Job, RunRecord, read_candidate, read_problem, verify_many
from app.verification.problem import Problem

GALLERY = Path(__file__).parent / "gallery"
PROBLEMS = Path(__file__).parents[2] / "bullets" / "problems"


@dataclass(frozen=True)
class Fixture:
    """One line of the gallery's manifest. `gpu_flags` are what an honest fixture may be flagged for on a GPU."""

    file: str
    about: str
    problem: str
    verdict: list[str]
    where: str
    limits: dict[str, Any] = field(default_factory=dict)
    gpu_flags: list[str] = field(default_factory=list)

    @property
    def is_honest(self) -> bool:
        return self.file.startswith("good_")

    def job(self, on_gpu: bool) -> Job:
        limits = GPU_LIMITS.changed(with_compile=False) if on_gpu else CPU_LIMITS
        return Job(problem_named(self.problem), read_candidate(GALLERY / self.file), limits.changed(**self.limits))


def read_manifest() -> list[Fixture]:
    return [Fixture(**entry) for entry in json.loads((GALLERY / "manifest.json").read_text(encoding="utf-8"))]


def problem_named(name: str) -> Problem:
    is_file = name.endswith(".py")
    return read_problem(GALLERY.parent / name if is_file else PROBLEMS / f"{name}.py")


def judge_all(fixtures: list[Fixture], on_gpu: bool) -> dict[str, RunRecord]:
    jobs = [fixture.job(on_gpu) for fixture in fixtures]
    records = verify_many(jobs, "cuda:0" if on_gpu else "cpu", workers=None if on_gpu else 3)
    return {fixture.file: record for fixture, record in zip(fixtures, records, strict=True)}


@pytest.fixture(scope="session")
def cpu_gallery() -> dict[str, RunRecord]:
    """All fixtures that need no GPU, judged once, three at a time."""
    return judge_all([fixture for fixture in read_manifest() if fixture.where == "both"], on_gpu=False)


@pytest.fixture(scope="session")
def gpu_gallery() -> dict[str, RunRecord]:
    return judge_all(read_manifest(), on_gpu=True)
