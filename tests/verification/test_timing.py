"""Rounds may begin anew with the same two processes: after other streams were seen, they are timed a second time."""

import itertools
import secrets

import pytest

from app.verification import CPU_LIMITS, read_candidate
from app.verification.candidate import CandidateRun
from app.verification.correctness import CorrectnessFacts, run_cases
from app.verification.protocol import WEIGHT_CHANGES
from app.verification.reference import ReferencePool
from app.verification.timing import _change_rounds, rehearse
from tests.verification.conftest import GALLERY, problem_named

pytestmark = pytest.mark.timeout(180)


def test_a_second_series_of_rounds_starts_from_the_same_values_on_both_sides() -> None:
    problem = problem_named("scaled_gelu_residual")
    source = read_candidate(GALLERY / "good_scaled_gelu.py").raw.decode()
    pool = ReferencePool(None, CPU_LIMITS)
    with pool.fresh(problem) as reference:
        run = CandidateRun(reference.chunk_fd, None, CPU_LIMITS, (), None)
        try:
            run.greet()
            run.ask("load", source=source, limit=2**33)
            reference.load(secrets.randbits(48))
            loaded = reference.loaded
            run.ask("build", entry_point="ModelNew", **{name: loaded[name] for name in ("init", "seed", "training")})
            run.enter("correctness", 60)
            gathered = CorrectnessFacts()
            run_cases(reference, run, 2, gathered)
            assert [case.mismatch for case in gathered.cases] == ["", ""]
            run.enter("timing", 60)
            for _ in range(3):
                timing = rehearse(reference, run)
                assert timing.checks
                assert not any(check.found for check in timing.checks)
        finally:
            run.close()


def test_the_program_of_a_caged_process_is_found_inside_its_cage() -> None:
    pool = ReferencePool(None, CPU_LIMITS)
    with pool.fresh(problem_named("scaled_gelu_residual")) as reference:
        run = CandidateRun(reference.chunk_fd, None, CPU_LIMITS, (), None)
        try:
            run.greet()
            for pid, module in ((run.program, "candidate_process"), (reference.child.program(), "reference_process")):
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                assert words[1:3] == [b"-m", f"app.verification.{module}".encode()]
        finally:
            run.close()


@pytest.mark.parametrize("checked", [[0, 1, 2, 3, 4, 5], [3, 9, 11, 20, 27, 29], [7]])
def test_weights_change_between_checks_and_every_change_is_followed_by_one(checked: list[int]) -> None:
    for _ in range(50):
        changes = sorted(_change_rounds(checked))
        assert changes[-1] <= checked[-1]
        if len(checked) > 1:
            assert len(changes) == WEIGHT_CHANGES
            bounds = [*changes, 10**6]
            assert all(any(low <= index < high for index in checked) for low, high in itertools.pairwise(bounds))
