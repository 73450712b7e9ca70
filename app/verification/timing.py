"""Interleaved timing: all sides in random order on the same values, with checks from outside."""

import random
import secrets
import time
from dataclasses import dataclass, replace

from app.verification.candidate import CandidateRun
from app.verification.cores import OneCore
from app.verification.correctness import compare_output
from app.verification.facts import TimingFact
from app.verification.protocol import (
    ALONE_ROUNDS,
    ALONE_TRIES,
    GAP_FACTOR,
    GAP_FLOOR_MS,
    HOLD_MS,
    MIN_TRIALS,
    REHEARSAL_BUDGET_S,
    TIMED_CHECKS,
    TIMING_FACTOR_HIGH,
    TIMING_FACTOR_LOW,
    WARMUP_ROUNDS,
    Limits,
)
from app.verification.reference import Reference
from app.verification.statistics import less_measuring, median_of
from app.verification.verdict import was_slowed

_BURSTS = 3
_BURST_MS = 40.0
_BURST_CALLS = (3, 200)
_HOLD_FACTOR = 2.0
_LONGEST_HOLD_MS = 200.0
_EXCHANGE_L2 = 2
"""Outputs below this many L2 sizes may stay in the cache, so that memory bandwidth bounds nothing."""


@dataclass
class _Rounds:
    """Readings as they come in, milliseconds by side."""

    stream: dict[str, list[float]]
    gap: dict[str, list[float]]
    settle: bool
    core: OneCore
    checked: int = 0
    mismatch: str = ""


def time_run(
    reference: Reference,
    run: CandidateRun,
    limits: Limits,
    machine: dict[str, float],
    compiled: bool,
    settle: bool,
    core: OneCore,
) -> TimingFact:
    """Time all sides. Raises CandidateFault and ReferenceFault. `machine` is what `describe_machine` answered;
    `settle` lets the cache flush end before each call (see Stopwatch.read).
    """
    prepared = reference.ask("prepare_timing")
    run.ask("prepare_timing")
    sides = ["eager", "candidate"] + ["compile"] * compiled
    rounds = _Rounds({side: [] for side in sides}, {side: [] for side in sides}, settle, core)
    source = random.SystemRandom()
    for _ in range(WARMUP_ROUNDS):
        _one_round(reference, run, sides, source, rounds, keep=False)
    checked = set(source.sample(range(limits.min_trials), min(TIMED_CHECKS, limits.min_trials)))
    started = time.monotonic()
    for index in range(limits.max_trials):
        if index >= limits.min_trials and time.monotonic() - started > limits.timing_budget_s:
            break
        factor, seed = _one_round(reference, run, sides, source, rounds)
        if index in checked:
            _check(reference, run, factor, seed, rounds)
    gap = median_of(rounds.gap["eager"])
    longest = _longest_gap(gap, settle)
    times = {side: less_measuring(rounds.stream[side], rounds.gap[side], longest) for side in sides}
    outside = _outside_clock(run, median_of(times["candidate"]), core)
    return TimingFact(
        eager_ms=times["eager"],
        compile_ms=times.get("compile", []),
        candidate_ms=times["candidate"],
        candidate_gap_ms=rounds.gap["candidate"],
        gap_ms=gap,
        outside_ms=outside,
        output_floor_ms=_output_floor(prepared["output_bytes"], machine),
        checked_rounds=rounds.checked,
        mismatch=rounds.mismatch,
        pair_rounds=[len(times["candidate"])],
        on_one_core=core.is_held,
    )


def time_alone(reference: Reference, timing: TimingFact, settle: bool, core: OneCore) -> TimingFact:
    """Time eager again now that the candidate is gone, and note it. Raises ReferenceFault.

    Where it is quicker now, it is timed anew to be sure, and once with all its launches enqueued before.
    """
    alone = _eager_alone(reference, settle, core, HOLD_MS)
    held = 0.0
    for _ in range(ALONE_TRIES - 1):
        if not was_slowed(timing.eager_ms, alone):
            break
        alone = max(alone, _eager_alone(reference, settle, core, HOLD_MS))
        held = _eager_alone(reference, False, core, min(_HOLD_FACTOR * alone, _LONGEST_HOLD_MS))
    return replace(timing, alone_ms=[alone], held_ms=[held])


def _eager_alone(reference: Reference, settle: bool, core: OneCore, hold_ms: float) -> float:
    """Eager's median in milliseconds, on the inputs of the rounds before."""
    readings = []
    for index in range(WARMUP_ROUNDS + ALONE_ROUNDS):
        core.renew()
        factor, seed = _drawn()
        reading = reference.ask("time", side="eager", factor=factor, seed=seed, settle=settle, hold_ms=hold_ms)
        if index >= WARMUP_ROUNDS:
            readings.append(float(reading["stream_ms"]))
    return median_of(readings)


def _drawn() -> tuple[float, int]:
    """A factor and a seed that nobody knew before."""
    return random.SystemRandom().uniform(TIMING_FACTOR_LOW, TIMING_FACTOR_HIGH), secrets.randbits(48)


def rehearse(reference: Reference, run: CandidateRun) -> TimingFact:
    """The rounds of timing without a clock, for the CPU: some outputs are compared, the last one always."""
    reference.ask("prepare_timing")
    run.ask("prepare_timing")
    source = random.SystemRandom()
    rounds = _Rounds({}, {}, settle=False, core=OneCore([]))
    started, count, is_last = time.monotonic(), 0, False
    while not (is_last or rounds.mismatch):
        count += 1
        is_last = count == MIN_TRIALS or time.monotonic() - started > REHEARSAL_BUDGET_S
        factor, seed = _drawn()
        run.ask("burst", factor=factor, seed=seed, count=1)
        if is_last or source.random() < TIMED_CHECKS / MIN_TRIALS:
            _check(reference, run, factor, seed, rounds)
    return TimingFact(checked_rounds=rounds.checked, mismatch=rounds.mismatch)


def _one_round(
    reference: Reference, run: CandidateRun, sides: list[str], source: random.Random, rounds: _Rounds, keep: bool = True
) -> tuple[float, int]:
    """One call of every side in random order. The factor and the seed are drawn now and known to nobody before."""
    factor, seed = _drawn()
    rounds.core.renew()
    for side in source.sample(sides, len(sides)):
        if side == "candidate":
            reading = run.ask("time", factor=factor, seed=seed, settle=rounds.settle)
        else:
            reading = reference.ask("time", side=side, factor=factor, seed=seed, settle=rounds.settle)
        if keep:
            rounds.stream[side].append(float(reading["stream_ms"]))
            rounds.gap[side].append(float(reading["device_ms"]) - float(reading["stream_ms"]))
    return factor, seed


def _longest_gap(eager_gap: float, settle: bool) -> float:
    """Milliseconds that waiting for the whole device may add to the stream's end before they count as work.

    No tolerance where other streams are known to be used (`settle`).
    """
    return max(eager_gap * (1.0 if settle else GAP_FACTOR), GAP_FLOOR_MS)


def _check(reference: Reference, run: CandidateRun, factor: float, seed: int, rounds: _Rounds) -> None:
    """Compare the output of the round that was just timed."""
    output = run.ask("describe")
    reference.ask("expect_timed", factor=factor, seed=seed)
    rounds.mismatch = rounds.mismatch or compare_output(reference, run, output)["mismatch"]
    rounds.checked += 1


def _outside_clock(run: CandidateRun, claimed_ms: float, core: OneCore) -> float:
    """Milliseconds per call by the judge's own clock: the best of a few bursts, less what a burst of none takes."""
    low, high = _BURST_CALLS
    count = max(low, min(high, int(_BURST_MS / max(claimed_ms, 1e-3))))
    empty, full = [], []
    for _ in range(_BURSTS):
        core.renew()
        factor, seed = _drawn()
        empty.append(_wall_ms(run, factor, seed, 0))
        full.append(_wall_ms(run, factor, seed, count))
    return max((min(full) - min(empty)) / count, 0.0)


def _wall_ms(run: CandidateRun, factor: float, seed: int, count: int) -> float:
    started = time.perf_counter()
    run.ask("burst", factor=factor, seed=seed, count=count)
    return (time.perf_counter() - started) * 1000


def _output_floor(output_bytes: float, machine: dict[str, float]) -> float:
    """Milliseconds that writing the outputs takes at the memory's peak rate; 0 where they may stay in the cache."""
    rate, l2 = machine.get("peak_bytes_per_ms") or 0.0, machine.get("l2_bytes") or 0.0
    return output_bytes / rate if rate and output_bytes > _EXCHANGE_L2 * l2 else 0.0
