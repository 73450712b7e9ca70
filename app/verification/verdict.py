"""From recorded facts to a verdict, flags and figures: pure functions, so a stored run can be judged again."""

import itertools
import statistics

from app.verification.facts import Facts, LaunchFact, TimingFact
from app.verification.needs_gpu import needs_gpu
from app.verification.protocol import (
    CLOCK_FACTOR,
    CLOCK_SLACK_MS,
    HOLD_MS,
    LAUNCH_BOUND_SHARE,
    OUTPUT_FLOOR_SHARE,
    SCORE_CAP,
    SLOWED_FACTOR,
    SLOWED_LAUNCHING_FACTOR,
    SLOWED_SLACK_MS,
    STREAM_FACTOR,
    STREAM_SLACK_MS,
)
from app.verification.record import Figures, is_slower
from app.verification.statistics import ratio_of
from app.vocabulary import Verdict

_ENDINGS = {
    "timeout": Verdict.TIMEOUT,
    "out_of_memory": Verdict.OUT_OF_MEMORY,
    "garbled": Verdict.SUSPICIOUS,
    "error": Verdict.RUNTIME_ERROR,
    "died": Verdict.RUNTIME_ERROR,
    "flooded": Verdict.RUNTIME_ERROR,
    "too_many_processes": Verdict.RUNTIME_ERROR,
}
_LOADING_ENDINGS = {"timeout": Verdict.COMPILE_TIMEOUT, "error": Verdict.COMPILE_ERROR}
_MEMORY_ERRORS = ("OutOfMemoryError", "MemoryError")
_MEMORY_WORDS = ("can't allocate memory", "CUDA out of memory", "Cannot allocate memory")


def verdict_of(facts: Facts) -> Verdict:
    """The verdict; the first rule that applies decides, from the evaluator's own faults to the speed."""
    for rule in _RULES:
        verdict = rule(facts)
        if verdict is not None:
            return verdict
    figures = figures_of(facts)
    if figures is not None and is_slower(figures.speedup_hi95):
        return Verdict.VERIFIED_SLOWER
    return Verdict.VERIFIED


def figures_of(facts: Facts) -> Figures | None:
    """Figures of the timing, or None where nothing was timed. Call it for successes only."""
    timing = facts.timing
    if timing is None or not timing.candidate_ms:
        return None
    eager = ratio_of(timing.eager_ms, timing.candidate_ms, timing.pair_rounds)
    beside = timing.candidate_ms[: len(timing.compile_ms)]
    compiled = ratio_of(timing.compile_ms, beside) if timing.compile_ms else None
    return Figures(
        speedup=eager.median,
        speedup_lo95=eager.lo95,
        speedup_hi95=eager.hi95,
        speedup_mean=eager.mean,
        speedup_vs_compile=compiled.median if compiled else None,
        speedup_vs_compile_lo95=compiled.lo95 if compiled else None,
        own_kernel_time_frac=_own_fraction(facts.launch),
        trials=len(timing.candidate_ms),
        eager_ms=statistics.median(timing.eager_ms),
        compile_ms=statistics.median(timing.compile_ms) if timing.compile_ms else None,
        candidate_ms=statistics.median(timing.candidate_ms),
        fast1=eager.lo95 > 1.0,
        score=min(eager.median, SCORE_CAP),
    )


def flags_of(facts: Facts) -> list[str]:
    """What a person should look at, whatever the verdict: static findings, tampering, clocks, floods, huge speedups,
    and figures that depend on the host.
    """
    flags = [*facts.static_flags]
    flags += [f"patched:{name}" for name in facts.patched]
    flags += [f"switch:{name}" for name in facts.switches]
    flags += [f"environment:{name}" for name in facts.environment]
    flags += [f"while_timed:{name}" for name in sorted(_seen_while_timed(facts))]
    flags += ["other_streams"] * bool(facts.launch and facts.launch.streams > 1)
    flags += ["threads_left"] * bool(facts.threads) + ["processes_left"] * bool(facts.processes_left)
    if facts.end is not None and facts.end.kind in ("flooded", "garbled", "too_many_processes"):
        flags.append(facts.end.kind)
    if facts.timing is not None:
        flags += _clock_flags(facts.timing, facts.launch)
        figures = figures_of(facts) if not facts.timing.has_wrong_output else None
        flags += ["excessive_speedup"] * bool(figures and figures.speedup > SCORE_CAP)
        flags += ["launch_bound"] * is_launch_bound(facts)
    return flags


def is_launch_bound(facts: Facts) -> bool:
    """Whether the device waited for the host during much of the time: the ratio then depends on the host's speed."""
    if facts.launch is None or facts.timing is None or facts.timing.has_wrong_output or not facts.timing.candidate_ms:
        return False
    share = facts.launch.total_us / 1000 / statistics.median(facts.timing.candidate_ms)
    return 0 < share < LAUNCH_BOUND_SHARE or facts.timing.held_share < LAUNCH_BOUND_SHARE


def detail_of(facts: Facts) -> str:
    """One sentence for a person: what went wrong, with the place where there is one."""
    if facts.infrastructure is not None:
        return facts.infrastructure[1]
    if facts.rejections:
        return "; ".join(facts.rejections[:5])
    if facts.end is not None:
        needed = "this candidate needs a GPU: " if not facts.on_gpu and needs_gpu(facts.end) else ""
        return f"{facts.end.phase}: {needed}{facts.end.detail}"
    if facts.weights_mismatch:
        return facts.weights_mismatch
    for case in facts.cases:
        if case.mismatch or case.mutated or case.alias or case.repeat_mismatch:
            return f"{case.name}: {case.detail or case.mismatch or case.alias or case.repeat_mismatch}"
    if facts.requires_kernel and _takes_another_path(facts):
        return "no kernel was launched here: this candidate asks for a GPU, and only a run on one tells about it"
    return ""


def _infrastructure(facts: Facts) -> Verdict | None:
    return None if facts.infrastructure is None else Verdict(facts.infrastructure[0])


def _static(facts: Facts) -> Verdict | None:
    return Verdict.STATIC_REJECTED if facts.rejections else None


def _ending(facts: Facts) -> Verdict | None:
    if facts.weights_mismatch:
        return Verdict.WEIGHTS_MISMATCH
    end = facts.end
    if end is None:
        return None
    if end.kind == "error" and end.error_type == "UnsupportedValue":
        return Verdict.INCORRECT_STRUCTURE
    if end.error_type in _MEMORY_ERRORS or (end.kind == "error" and any(word in end.detail for word in _MEMORY_WORDS)):
        return Verdict.OUT_OF_MEMORY
    if not facts.on_gpu and needs_gpu(end):
        return Verdict.INFRA_ERROR
    if end.phase == "load" and end.kind in _LOADING_ENDINGS:
        return _LOADING_ENDINGS[end.kind]
    return _ENDINGS[end.kind]


def _tampering(facts: Facts) -> Verdict | None:
    tampered = facts.patched or facts.switches or facts.environment or facts.threads or facts.processes_left
    return Verdict.SUSPICIOUS if tampered or _seen_while_timed(facts) else None


def _seen_while_timed(facts: Facts) -> set[str]:
    """What the looks between the rounds found changed, or at work, in the candidate's process."""
    found = set()
    for check in facts.timing.checks if facts.timing is not None else []:
        found |= {*check.tampered, *["threads"] * bool(check.threads), *["processes"] * bool(check.processes)}
    return found


def _cases(facts: Facts) -> Verdict | None:
    for case in facts.cases:
        if case.mismatch in ("structure", "shape", "dtype"):
            return Verdict(f"incorrect_{case.mismatch}")
        if case.mutated:
            return Verdict.MUTATED_INPUT
        if case.alias:
            return Verdict.ALIASED_OUTPUT
        if case.mismatch:
            return Verdict.STALE_OUTPUT if case.stale else Verdict(f"incorrect_{case.mismatch}")
        if case.repeat_mismatch:
            return Verdict.NONDETERMINISTIC
    return None


def _degenerate(facts: Facts) -> Verdict | None:
    return Verdict.DEGENERATE_PROBLEM if facts.degenerate else None


def _launch(facts: Facts) -> Verdict | None:
    launch = facts.launch
    if launch is None or not facts.requires_kernel:
        return None
    if _takes_another_path(facts):
        return Verdict.INFRA_ERROR
    if not launch.launches:
        # Operators of a compiled extension stand among the launches although their calls cannot be counted.
        return Verdict.NO_CUSTOM_KERNEL
    if launch.knocked_out_matches or launch.repeats_reference:
        return Verdict.DECOY
    if _lacks_profile(facts) or (launch.own_us > 0 if facts.on_gpu else launch.last_launches):
        return None
    return Verdict.NO_CUSTOM_KERNEL


def _takes_another_path(facts: Facts) -> bool:
    """Whether a candidate that asks for a GPU launched nothing where there is none: it may well launch on one."""
    is_elsewhere = not facts.on_gpu and facts.asks_for_gpu and bool(facts.declared_kernels)
    return is_elsewhere and facts.launch is not None and not facts.launch.launches


def _profile(facts: Facts) -> Verdict | None:
    """Without a profile nothing can be said for a kernel. Asked last: what was found against it stands without one."""
    return Verdict.PROFILER_FAULT if _lacks_profile(facts) else None


def _lacks_profile(facts: Facts) -> bool:
    return facts.on_gpu and facts.requires_kernel and facts.launch is not None and not facts.launch.marker_seen


def _clocks(facts: Facts) -> Verdict | None:
    """The outside clock alone convicts nobody: the profile tells how much of its time were launches."""
    if facts.timing is None or _lacks_profile(facts):
        return None
    return Verdict.SUSPICIOUS if _clock_flags(facts.timing, facts.launch) else None


def _timed_outputs(facts: Facts) -> Verdict | None:
    """A kernel that was right in every case and wrong while it was timed gave a result of another round."""
    for check in facts.timing.checks if facts.timing is not None else []:
        if check.mismatch:
            return Verdict.STALE_OUTPUT
        if check.mutated:
            return Verdict.MUTATED_INPUT
        if check.alias:
            return Verdict.ALIASED_OUTPUT
    return None


def _timed_launches(facts: Facts) -> Verdict | None:
    """Whoever launched in the last case, and not in every counted call among the timed ones, was timed without; and
    whoever left the reference's work to torch in one of them had a kernel for show.
    """
    if facts.launch is None or facts.timing is None or not facts.requires_kernel:
        return None
    if facts.launch.last_launches and 0 in facts.timing.launches:
        return Verdict.NO_CUSTOM_KERNEL
    return Verdict.DECOY if facts.timing.repeats_reference else None


_RULES = (
    _infrastructure, _static, _ending, _tampering, _cases, _degenerate, _launch, _clocks, _timed_outputs,
    _timed_launches, _profile,
)  # fmt: skip


def _clock_flags(timing: TimingFact, launch: LaunchFact | None) -> list[str]:
    """Why the candidate's own clock is not believed, if it is not."""
    if not timing.candidate_ms:
        return []
    claimed = statistics.median(timing.candidate_ms)
    flags = []
    if claimed <= 0 or _takes_longer(timing, claimed, launch):
        flags.append("clock_mismatch")
    if statistics.median(timing.candidate_gap_ms) > STREAM_FACTOR * timing.gap_ms + STREAM_SLACK_MS:
        flags.append("unjoined_stream")
    if claimed < OUTPUT_FLOOR_SHARE * timing.output_floor_ms:
        flags.append("below_output_floor")
    if any(was_slowed(*pair) for pair in zip(_by_pair(timing), timing.alone_ms, timing.held_ms, strict=False)):
        flags.append("slowed_baseline")
    return flags


def _by_pair(timing: TimingFact) -> list[list[float]]:
    """Eager's readings of each pair of processes."""
    readings = iter(timing.eager_ms)
    return [list(itertools.islice(readings, count)) for count in timing.pair_rounds]


def was_slowed(beside_ms: list[float], alone_ms: float, held_ms: float = 0.0) -> bool:
    """Whether eager took longer beside the candidate's process than without it, by more than eager's own variation.

    `held_ms` is the device's part of the time alone, 0 where it is not known.
    """
    is_launching = 0 < held_ms * SLOWED_FACTOR < alone_ms
    factor = SLOWED_LAUNCHING_FACTOR if is_launching else SLOWED_FACTOR
    return statistics.median(beside_ms) > factor * alone_ms + SLOWED_SLACK_MS


def _takes_longer(timing: TimingFact, claimed_ms: float, launch: LaunchFact | None) -> bool:
    """Whether the outside clock contradicts what the candidate's own clock claims."""
    believed = CLOCK_FACTOR * claimed_ms + CLOCK_SLACK_MS
    if timing.outside_ms is None or timing.outside_ms <= believed:
        return False
    is_launching = launch is not None and 0 < launch.total_us / 1000 <= believed
    return not is_launching or timing.outside_ms > believed + min(timing.hold_ms, HOLD_MS + claimed_ms)


def _own_fraction(launch: LaunchFact | None) -> float | None:
    if launch is None or launch.total_us <= 0:
        return None
    return min(1.0, launch.own_us / launch.total_us)
