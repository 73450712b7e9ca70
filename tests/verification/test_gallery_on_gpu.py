"""The whole gallery, the controls and the row of three crashes on a real GPU. Run with `-m gpu`."""

import statistics

import pytest

from app.verification import GPU_LIMITS, RunRecord, read_candidate, verify
from app.verification.controls import reference_as_candidate, run_controls
from app.verification.protocol import LAUNCH_BOUND_PAIRS, NOISE_FLOOR, SLOWED_FACTOR
from eval.verification import flags_fit
from tests.verification.conftest import GALLERY, Fixture, problem_named, read_manifest

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(900)]
WITHOUT_COMPILE = GPU_LIMITS.changed(with_compile=False)


@pytest.mark.parametrize("fixture", read_manifest(), ids=lambda fixture: fixture.file.removesuffix(".py"))
def test_a_fixture_gets_the_verdict_of_the_manifest_on_the_gpu(
    fixture: Fixture, gpu_gallery: dict[str, RunRecord]
) -> None:
    record = gpu_gallery[fixture.file]
    assert record.verdict in fixture.verdict, record.detail
    assert (record.figures is not None) == fixture.is_honest
    if fixture.is_honest:
        assert flags_fit(record.flags, fixture.gpu_flags), record.flags


def test_a_launch_bound_kernel_is_timed_in_several_pairs_of_processes(gpu_gallery: dict[str, RunRecord]) -> None:
    timing = gpu_gallery["good_many_launches.py"].evidence["timing"]
    assert len(timing["pair_rounds"]) == LAUNCH_BOUND_PAIRS
    assert sum(timing["pair_rounds"]) == len(timing["eager_ms"]) == len(timing["candidate_ms"])


def test_all_sides_are_launched_from_one_core(gpu_gallery: dict[str, RunRecord]) -> None:
    assert gpu_gallery["good_scaled_gelu.py"].evidence["timing"]["on_one_core"]


def test_eager_alone_is_quicker_than_beside_a_candidate_that_holds_it_up(gpu_gallery: dict[str, RunRecord]) -> None:
    record = gpu_gallery["slowed_baseline_by_thread.py"]
    assert "slowed_baseline" in record.flags
    timing = record.evidence["timing"]
    assert statistics.median(timing["eager_ms"]) > SLOWED_FACTOR * timing["alone_ms"][0]


def test_a_good_kernel_is_verified_after_an_endless_loop_an_illegal_access_and_a_fork_bomb() -> None:
    problem = problem_named("scaled_gelu_residual")
    limits = WITHOUT_COMPILE.changed(correctness_s=10)
    for name in ("endless_loop_on_device", "illegal_access", "fork_bomb"):
        assert not verify(problem, read_candidate(GALLERY / f"{name}.py"), "cuda:0", limits).success
    assert verify(problem, read_candidate(GALLERY / "good_scaled_gelu.py"), "cuda:0", limits).success


def test_the_reference_against_itself_is_as_fast_as_itself() -> None:
    problem = problem_named("linear_bias_relu_scale")
    record = verify(problem, reference_as_candidate(problem), "cuda:0", WITHOUT_COMPILE)
    assert record.figures is not None
    assert record.figures.speedup == pytest.approx(1.0, abs=NOISE_FLOOR)


def test_zeros_fail_and_the_reference_passes() -> None:
    (report,) = run_controls([problem_named("rms_norm_residual")], "cuda:0", WITHOUT_COMPILE)
    assert report.reference.success
    assert not report.zeros.success
