"""The verdict is a function of recorded facts; figures and verdicts are tied together."""

import dataclasses
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidInput
from app.verification.facts import CaseFact, CheckFact, Facts, LaunchFact, PhaseEnd, TimingFact
from app.verification.findings import Findings
from app.verification.record import Figures, RunRecord
from app.verification.verdict import figures_of, flags_of, verdict_of
from app.verification.watch import Watch
from app.vocabulary import Verdict

RIGHT = CaseFact("initial weights")
OWN = LaunchFact(
    marker_seen=True, own_us=900.0, total_us=1000.0, kernels={"mine": 900.0}, launches={"mine": 1}, streams=1,
    last_launches=1,
)  # fmt: skip


def timing(eager: float = 2.0, candidate: float = 1.0, **values: Any) -> TimingFact:
    rounds = 40
    base = TimingFact(
        eager_ms=[eager] * rounds,
        compile_ms=[1.5] * rounds,
        candidate_ms=[candidate] * rounds,
        candidate_gap_ms=[0.01] * rounds,
        gap_ms=0.01,
        outside_ms=candidate,
    )
    return dataclasses.replace(base, **values)


def good(**values: Any) -> Facts:
    base = Facts(cases=[RIGHT], launch=OWN, timing=timing(), on_gpu=True, declared_kernels=["mine"])
    return dataclasses.replace(base, **values)


def case(**values: Any) -> list[CaseFact]:
    return [dataclasses.replace(RIGHT, **values)]


@pytest.mark.parametrize(
    ("facts", "verdict"),
    [
        (good(), Verdict.VERIFIED),
        (good(timing=timing(eager=0.8)), Verdict.VERIFIED_SLOWER),
        (good(timing=timing(eager=0.995)), Verdict.VERIFIED),
        (good(rejections=["no class ModelNew"]), Verdict.STATIC_REJECTED),
        (good(infrastructure=("gpu_unhealthy", "gone"), rejections=["x"]), Verdict.GPU_UNHEALTHY),
        (good(end=PhaseEnd("load", "error", "", "ImportError")), Verdict.COMPILE_ERROR),
        (good(end=PhaseEnd("load", "timeout")), Verdict.COMPILE_TIMEOUT),
        (good(end=PhaseEnd("load", "died")), Verdict.RUNTIME_ERROR),
        (good(end=PhaseEnd("correctness", "error", "", "ValueError")), Verdict.RUNTIME_ERROR),
        (good(end=PhaseEnd("correctness", "timeout")), Verdict.TIMEOUT),
        (good(end=PhaseEnd("correctness", "error", "", "OutOfMemoryError")), Verdict.OUT_OF_MEMORY),
        (good(end=PhaseEnd("correctness", "error", "can't allocate memory", "RuntimeError")), Verdict.OUT_OF_MEMORY),
        (good(end=PhaseEnd("correctness", "garbled")), Verdict.SUSPICIOUS),
        (good(end=PhaseEnd("correctness", "error", "", "UnsupportedValue")), Verdict.INCORRECT_STRUCTURE),
        (good(weights_mismatch="size mismatch"), Verdict.WEIGHTS_MISMATCH),
        (good(patched=["time.perf_counter"]), Verdict.SUSPICIOUS),
        (good(switches=["matmul.allow_tf32"]), Verdict.SUSPICIOUS),
        (good(environment=["CUDA_LAUNCH_BLOCKING"]), Verdict.SUSPICIOUS),
        (good(threads=1), Verdict.SUSPICIOUS),
        (good(processes_left=1), Verdict.SUSPICIOUS),
        (good(cases=case(mismatch="structure")), Verdict.INCORRECT_STRUCTURE),
        (good(cases=case(mismatch="shape")), Verdict.INCORRECT_SHAPE),
        (good(cases=case(mismatch="dtype")), Verdict.INCORRECT_DTYPE),
        (good(cases=case(mismatch="value")), Verdict.INCORRECT_VALUE),
        (good(cases=case(mismatch="nonfinite")), Verdict.INCORRECT_NONFINITE),
        (good(cases=case(mismatch="value", stale=True)), Verdict.STALE_OUTPUT),
        (good(cases=case(mutated=True, alias="input")), Verdict.MUTATED_INPUT),
        (good(cases=case(alias="previous output")), Verdict.ALIASED_OUTPUT),
        (good(cases=case(repeat_mismatch="value")), Verdict.NONDETERMINISTIC),
        (good(degenerate=True), Verdict.DEGENERATE_PROBLEM),
        (good(launch=LaunchFact()), Verdict.NO_CUSTOM_KERNEL),
        (good(launch=LaunchFact(repeats_reference=True)), Verdict.NO_CUSTOM_KERNEL),
        (good(launch=LaunchFact(launches={"mine": 1})), Verdict.PROFILER_FAULT),
        (good(launch=LaunchFact(launches={"mine": 1}, repeats_reference=True)), Verdict.DECOY),
        (good(launch=dataclasses.replace(OWN, own_us=0.0)), Verdict.NO_CUSTOM_KERNEL),
        (good(launch=dataclasses.replace(OWN, knocked_out_matches=True)), Verdict.DECOY),
        (good(timing=timing(repeats_reference=True)), Verdict.DECOY),
        (good(timing=timing(repeats_reference=True), requires_kernel=False), Verdict.VERIFIED),
        (good(launch=dataclasses.replace(OWN, launches={})), Verdict.NO_CUSTOM_KERNEL),
        (good(timing=timing(outside_ms=3.0)), Verdict.SUSPICIOUS),
        (good(timing=timing(candidate_gap_ms=[0.9] * 40)), Verdict.SUSPICIOUS),
        (good(timing=timing(output_floor_ms=5.0)), Verdict.SUSPICIOUS),
        (good(timing=timing(checks=[CheckFact(), CheckFact(mismatch="value")])), Verdict.STALE_OUTPUT),
        (good(timing=timing(checks=[CheckFact(mutated=True)])), Verdict.MUTATED_INPUT),
        (good(timing=timing(checks=[CheckFact(alias="previous output")])), Verdict.ALIASED_OUTPUT),
        (good(timing=timing(checks=[CheckFact(tampered=["torch.equal"]), CheckFact()])), Verdict.SUSPICIOUS),
        (good(timing=timing(checks=[CheckFact(threads=1)])), Verdict.SUSPICIOUS),
        (good(timing=timing(checks=[CheckFact(processes=1)])), Verdict.SUSPICIOUS),
        (good(timing=timing(launches=[1, 2, 1])), Verdict.VERIFIED),
        (good(timing=timing(launches=[1, 1, 0])), Verdict.NO_CUSTOM_KERNEL),
        (good(timing=timing(launches=[0, 0, 0])), Verdict.NO_CUSTOM_KERNEL),
        (good(launch=dataclasses.replace(OWN, last_launches=0), timing=timing(launches=[0, 0, 0])), Verdict.VERIFIED),
        (good(launch=dataclasses.replace(OWN, repeats_reference=True)), Verdict.DECOY),
    ],
)  # fmt: skip
def test_facts_lead_to_one_verdict(facts: Facts, verdict: Verdict) -> None:
    assert verdict_of(facts) is verdict


NO_PROFILE = LaunchFact(launches={"mine": 1}, last_launches=1)


@pytest.mark.parametrize(
    ("times", "verdict"),
    [
        (timing(checks=[CheckFact(mismatch="value")]), Verdict.STALE_OUTPUT),
        (timing(checks=[CheckFact(mutated=True)]), Verdict.MUTATED_INPUT),
        (timing(launches=[1, 0]), Verdict.NO_CUSTOM_KERNEL),
        (timing(repeats_reference=True), Verdict.DECOY),
        (timing(outside_ms=3.0), Verdict.PROFILER_FAULT),
    ],
)
def test_a_missing_profile_hides_nothing_but_what_needs_one(times: TimingFact, verdict: Verdict) -> None:
    assert verdict_of(good(launch=NO_PROFILE, timing=times)) is verdict


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ({}, Verdict.INFRA_ERROR),
        ({"asks_for_gpu": False}, Verdict.NO_CUSTOM_KERNEL),
        ({"declared_kernels": []}, Verdict.NO_CUSTOM_KERNEL),
        ({"on_gpu": True}, Verdict.NO_CUSTOM_KERNEL),
        ({"launch": NO_PROFILE}, Verdict.VERIFIED),
        ({"cases": case(mismatch="value")}, Verdict.INCORRECT_VALUE),
    ],
)
def test_a_candidate_that_asks_for_a_gpu_and_launches_nothing_without_one_is_not_judged(
    values: dict[str, Any], verdict: Verdict
) -> None:
    facts = good(on_gpu=False, asks_for_gpu=True, launch=LaunchFact(), timing=None)
    assert verdict_of(dataclasses.replace(facts, **values)) is verdict


@pytest.mark.parametrize(
    ("outside_ms", "profiled_us", "verdict"),
    [
        (1.6, 100_000.0, Verdict.VERIFIED),
        (2.4, 1_000.0, Verdict.VERIFIED),
        (2.4, 2_300.0, Verdict.SUSPICIOUS),
        (2.4, 0.0, Verdict.PROFILER_FAULT),
        (2.8, 1_000.0, Verdict.SUSPICIOUS),
    ],
)
def test_launches_that_the_hold_can_have_hidden_are_no_lie_but_device_work_is(
    outside_ms: float, profiled_us: float, verdict: Verdict
) -> None:
    launch = dataclasses.replace(OWN, own_us=profiled_us, total_us=profiled_us, marker_seen=profiled_us > 0)
    assert verdict_of(good(timing=timing(candidate=1.0, outside_ms=outside_ms), launch=launch)) is verdict


def test_a_longer_hold_can_have_hidden_more_launches_but_not_many_times_what_is_claimed() -> None:
    for outside_ms, hold_ms, verdict in [
        (3.5, 6.0, Verdict.VERIFIED), (3.7, 6.0, Verdict.SUSPICIOUS), (3.5, 1.2, Verdict.SUSPICIOUS),
    ]:  # fmt: skip
        times = timing(candidate=1.0, outside_ms=outside_ms, hold_ms=hold_ms)
        assert verdict_of(good(timing=times, launch=OWN)) is verdict


def test_a_run_of_which_a_side_is_much_shorter_behind_a_long_hold_is_flagged_as_launch_bound() -> None:
    assert flags_of(good(timing=timing(held_share=0.61))) == []
    assert flags_of(good(timing=timing(held_share=0.59))) == ["launch_bound"]


@pytest.mark.parametrize(("profiled_us", "flags"), [(1000.0, []), (610.0, []), (500.0, ["launch_bound"]), (0.0, [])])
def test_a_device_that_waits_for_the_host_is_flagged_as_launch_bound(profiled_us: float, flags: list[str]) -> None:
    launch = dataclasses.replace(OWN, own_us=profiled_us, total_us=profiled_us)
    assert flags_of(good(timing=timing(candidate=1.0), launch=launch)) == flags


@pytest.mark.parametrize(
    ("alone_ms", "held_ms", "flags"),
    [
        (2.0, 0.0, []),
        (1.85, 0.0, []),
        (1.7, 1.69, ["slowed_baseline"]),
        (1.7, 0.0, ["slowed_baseline"]),
        (1.5, 0.4, []),
        (1.2, 0.4, ["slowed_baseline"]),
        (3.0, 0.0, []),
    ],
)
def test_eager_that_is_quicker_without_the_candidate_was_held_up_by_it(
    alone_ms: float, held_ms: float, flags: list[str]
) -> None:
    facts = good(timing=timing(eager=2.0, pair_rounds=[40], alone_ms=[alone_ms], held_ms=[held_ms]))
    assert flags_of(facts) == flags
    assert verdict_of(facts) is (Verdict.SUSPICIOUS if flags else Verdict.VERIFIED)


def test_every_pair_of_processes_has_its_own_baseline() -> None:
    one = timing(eager=2.0, pair_rounds=[40], alone_ms=[2.0], held_ms=[0.0])
    other = timing(eager=3.0, pair_rounds=[40], alone_ms=[3.0], held_ms=[0.0])
    assert flags_of(good(timing=one.joined(other))) == []
    assert flags_of(good(timing=one.joined(dataclasses.replace(other, alone_ms=[2.0])))) == ["slowed_baseline"]


def test_figures_of_several_pairs_count_all_rounds_and_compare_with_compile_where_it_was_timed() -> None:
    first = timing(eager=2.0, candidate=1.0, pair_rounds=[40])
    facts = good(timing=first.joined(timing(eager=4.5, candidate=1.0, compile_ms=[], pair_rounds=[40])))
    figures = figures_of(facts)
    assert figures is not None
    assert (figures.speedup, figures.trials) == (pytest.approx(3.0), 80)
    assert figures.speedup_vs_compile == pytest.approx(1.5)


LAUNCHING = dataclasses.replace(OWN, own_us=300.0, total_us=400.0)


@pytest.mark.parametrize(
    ("facts", "is_wanted"),
    [
        (good(launch=LAUNCHING, timing=timing(pair_rounds=[40])), True),
        (good(launch=LAUNCHING, timing=timing(pair_rounds=[20, 20])), True),
        (good(launch=LAUNCHING, timing=timing(pair_rounds=[14, 13, 13])), False),
        (good(launch=OWN, timing=timing(pair_rounds=[40])), False),
        (good(launch=LAUNCHING, timing=timing(pair_rounds=[40]), threads=1), False),
        (good(launch=LAUNCHING, timing=TimingFact()), False),
        (good(launch=LAUNCHING, timing=None), False),
    ],
)
def test_a_launch_bound_success_is_timed_in_further_processes_and_nothing_else_is(
    facts: Facts, is_wanted: bool
) -> None:
    assert Findings(facts, Watch()).wants_another_pair is is_wanted


def test_a_phase_that_comes_again_counts_together() -> None:
    findings = Findings(good(), Watch())
    for _ in range(2):
        findings.timed("load", lambda: time.sleep(0.02))
    assert findings.phases["load"] >= 0.04


def test_a_control_needs_no_kernel_of_its_own() -> None:
    assert verdict_of(good(launch=LaunchFact(), declared_kernels=[], requires_kernel=False)) is Verdict.VERIFIED


def test_figures_are_medians_of_rounds_and_the_share_of_own_kernels() -> None:
    figures = figures_of(good())
    assert figures is not None
    assert (figures.speedup, figures.speedup_vs_compile) == (pytest.approx(2.0), pytest.approx(1.5))
    assert (figures.own_kernel_time_frac, figures.trials, figures.fast1) == (pytest.approx(0.9), 40, True)


def test_more_than_tenfold_is_flagged_and_capped_not_refused() -> None:
    facts = good(timing=timing(eager=36.0))
    figures = figures_of(facts)
    assert figures is not None
    assert figures.score == 10.0
    assert "excessive_speedup" in flags_of(facts)
    assert verdict_of(facts) is Verdict.VERIFIED


FIGURES = figures_of(good())


def record(verdict: Verdict, figures: Figures | None, device: str = "cuda:0") -> RunRecord:
    return RunRecord({}, {}, device, verdict, "", [], figures, {}, {}, "2026-01-01T00:00:00+00:00", 1.0)


@given(st.sampled_from([verdict for verdict in Verdict if not verdict.is_success]))
def test_a_failure_never_carries_figures(verdict: Verdict) -> None:
    with pytest.raises(InvalidInput):
        record(verdict, FIGURES)
    assert record(verdict, None).score == 0.0


def test_the_cpu_never_carries_figures() -> None:
    with pytest.raises(InvalidInput):
        record(Verdict.VERIFIED, FIGURES, "cpu-interpreter")


def test_slower_and_faster_cannot_be_mixed_up() -> None:
    with pytest.raises(InvalidInput):
        record(Verdict.VERIFIED_SLOWER, FIGURES)
    assert FIGURES is not None
    with pytest.raises(InvalidInput):
        record(Verdict.VERIFIED, dataclasses.replace(FIGURES, fast1=False))


@pytest.mark.parametrize("figures", [None, FIGURES])
def test_a_record_survives_json(figures: Figures | None) -> None:
    before = record(Verdict.VERIFIED, figures)
    assert RunRecord.from_json(json.loads(json.dumps(before.to_json()))) == before


@pytest.mark.parametrize("data", [{}, {"verdict": "splendid"}, {"figures": 3}])
def test_what_is_no_record_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        RunRecord.from_json(data)


def test_every_verdict_is_success_infrastructure_or_a_fault_of_the_kernel() -> None:
    assert not [verdict for verdict in Verdict if verdict.is_success and verdict.is_infrastructure]
    assert sum(verdict.is_infrastructure for verdict in Verdict) == 4


@pytest.mark.parametrize(
    ("error_type", "detail", "verdict"),
    [
        ("AssertionError", "Torch not compiled with CUDA enabled", Verdict.INFRA_ERROR),
        ("RuntimeError", "No CUDA GPUs are available", Verdict.INFRA_ERROR),
        ("RuntimeError", "Found no NVIDIA driver on your system.", Verdict.INFRA_ERROR),
        ("RuntimeError", "Cannot access accelerator device when none is available.", Verdict.INFRA_ERROR),
        ("RuntimeError", "0 active drivers ([]). There should only be one.", Verdict.INFRA_ERROR),
        ("ValueError", "x must be a CUDA tensor", Verdict.INFRA_ERROR),
        ("AssertionError", "\n  in forward\n    assert x.is_cuda and y.is_cuda\nAssertionError", Verdict.INFRA_ERROR),
        ("AssertionError", "\n  in forward\n    assert x.device.type == 'cuda'", Verdict.INFRA_ERROR),
        ("AssertionError", "\n  in forward\n    assert x.dtype == torch.float32", Verdict.RUNTIME_ERROR),
        ("KeyError", "'cuda is needed'", Verdict.RUNTIME_ERROR),
        ("RuntimeError", "shapes differ\n  must be right\n  on every cuda", Verdict.RUNTIME_ERROR),
    ],
)
def test_a_missing_gpu_is_no_fault_of_the_kernel_unless_there_is_one(
    error_type: str, detail: str, verdict: Verdict
) -> None:
    end = PhaseEnd("correctness", "error", detail, error_type)
    assert verdict_of(good(end=end, on_gpu=False)) is verdict
    assert verdict_of(good(end=end, on_gpu=True)) is Verdict.RUNTIME_ERROR
    loading = verdict_of(good(end=dataclasses.replace(end, phase="load"), on_gpu=False))
    assert loading is (verdict if verdict is Verdict.INFRA_ERROR else Verdict.COMPILE_ERROR)
