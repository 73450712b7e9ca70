"""Interleaved timing: all sides in random order on the same values, with checks from outside."""

import itertools
import random
import secrets
import time
from dataclasses import dataclass, field, replace
from typing import Any

from app.verification.candidate import CandidateRun
from app.verification.cores import OneCore
from app.verification.correctness import repeats
from app.verification.facts import CheckFact, TimingFact
from app.verification.hold import Call, Hold, choose_hold
from app.verification.protocol import (
    ALONE_ROUNDS,
    ALONE_TRIES,
    COUNTED_CALLS,
    GAP_FACTOR,
    GAP_FLOOR_MS,
    HOLD_FACTOR,
    HOLD_MS,
    LONGEST_HOLD_MS,
    MIN_TRIALS,
    REHEARSAL_BUDGET_S,
    TIMED_CHECKS,
    WARMUP_ROUNDS,
    WEIGHT_CHANGES,
    Limits,
)
from app.verification.reference import Reference
from app.verification.statistics import less_measuring, median_of
from app.verification.timed_checks import change_weights, check_timed, renew_whole_numbers
from app.verification.verdict import was_slowed

_SOURCE = random.SystemRandom()
_BURSTS = 3
_BURST_MS = 40.0
_BURST_CALLS = (3, 200)
_HELD_SIDES = ("eager", "candidate")
"""Whose launches decide about the hold; torch.compile is only compared with."""

_EXCHANGE_L2 = 2
"""Outputs below this many L2 sizes may stay in the cache, so that memory bandwidth bounds nothing."""


@dataclass
class _Rounds:
    """Readings as they come in, milliseconds by side, and what the checks between them saw."""

    reference: Reference
    run: CandidateRun
    core: OneCore
    sides: list[str]
    settle: bool
    hold_ms: float = HOLD_MS
    wanted: dict[str, int] = field(default_factory=dict)
    has_float_inputs: bool = True
    stream: dict[str, list[float]] = field(default_factory=dict)
    gap: dict[str, list[float]] = field(default_factory=dict)
    launches: list[int] = field(default_factory=list)
    checks: list[CheckFact] = field(default_factory=list)
    repeats_reference: bool = False

    def prepare(self) -> int:
        """Both sides keep their inputs; bytes that a call writes at the least."""
        prepared = self.reference.ask("prepare_timing")
        self.run.ask("prepare_timing")
        self.wanted = self.reference.ask("trace")["operators"]
        self.has_float_inputs = bool(prepared["has_float_inputs"])
        return int(prepared["output_bytes"])

    def change(self) -> None:
        """Other weights from now on, and other inputs where they are no floats."""
        change_weights(self.reference, self.run)
        renew_whole_numbers(self.reference, self.run)

    def play(self, seed: int) -> None:
        """One call of every side in random order, on the values of `seed`, which nobody knew before."""
        if not self.has_float_inputs:
            change_weights(self.reference, self.run)
        for side, reading in self._read(seed, self.hold_ms).items():
            self.stream.setdefault(side, []).append(reading["stream_ms"])
            self.gap.setdefault(side, []).append(reading["device_ms"] - reading["stream_ms"])

    def try_hold(self, hold_ms: float) -> dict[str, Call]:
        """A round that does not count, behind another hold: the calls that the host's speed may matter for."""
        readings = self._read(_seed(), hold_ms)
        return {side: Call(readings[side]["stream_ms"], readings[side]["enqueue_ms"]) for side in _HELD_SIDES}

    def _read(self, seed: int, hold_ms: float) -> dict[str, dict[str, float]]:
        self.core.renew()
        values: dict[str, Any] = {"seed": seed, "settle": self.settle, "hold_ms": hold_ms}
        readings = {}
        for side in _SOURCE.sample(self.sides, len(self.sides)):
            is_candidate = side == "candidate"
            answer = self.run.ask("time", **values) if is_candidate else self.reference.ask("time", side=side, **values)
            readings[side] = {name: float(answer[name]) for name in ("stream_ms", "device_ms", "enqueue_ms")}
        return readings

    def count(self) -> None:
        """A call like the others whose launches and operators are counted and whose time is not taken."""
        values = {"seed": _seed(), "settle": self.settle, "hold_ms": self.hold_ms}
        self._note(self.run.ask("time", **values, counted=True))

    def rehearse(self, seed: int) -> None:
        """What `count` does, without a clock."""
        if not self.has_float_inputs:
            change_weights(self.reference, self.run)
        self._note(self.run.ask("rehearse", seed=seed))

    def _note(self, seen: dict[str, Any]) -> None:
        self.launches.append(seen["launches"])
        self.repeats_reference |= repeats(self.wanted, seen["operators"])

    def check(self, seed: int) -> None:
        """Compare the output of the round that was just played, and look at the process."""
        self.checks.append(check_timed(self.reference, self.run, seed))

    def check_burst(self, seed: int) -> None:
        """The same for the last call of a burst."""
        self.run.ask("keep_burst")
        self.check(seed)


def time_run(
    reference: Reference,
    run: CandidateRun,
    limits: Limits,
    machine: dict[str, float],
    compiled: bool,
    settle: bool,
    core: OneCore,
    hold: Hold | None = None,
) -> TimingFact:
    """Time all sides. Raises CandidateFault and ReferenceFault. `machine` is what `describe_machine` answered;
    `settle` lets the cache flush end before each call and does not hold (see Stopwatch.read). `hold` is that of an
    earlier pair of processes; without one it is found out.
    """
    rounds = _Rounds(reference, run, core, ["eager", "candidate"] + ["compile"] * compiled, settle)
    output_bytes = rounds.prepare()
    warm = [rounds.try_hold(HOLD_MS) for _ in range(WARMUP_ROUNDS)]
    hold = hold or (Hold() if settle else choose_hold(rounds.try_hold, warm))
    rounds.hold_ms = hold.ms
    _play_all(rounds, limits)
    gap = median_of(rounds.gap["eager"])
    longest = _longest_gap(gap, settle)
    times = {side: less_measuring(rounds.stream[side], rounds.gap[side], longest) for side in rounds.sides}
    outside = _outside_clock(rounds, median_of(times["candidate"]))
    return TimingFact(
        eager_ms=times["eager"],
        compile_ms=times.get("compile", []),
        candidate_ms=times["candidate"],
        candidate_gap_ms=rounds.gap["candidate"],
        gap_ms=gap,
        outside_ms=outside,
        output_floor_ms=_output_floor(output_bytes, machine),
        checks=rounds.checks,
        launches=rounds.launches,
        repeats_reference=rounds.repeats_reference,
        pair_rounds=[len(times["candidate"])],
        on_one_core=core.is_held,
        hold_ms=hold.ms,
        held_share=hold.share,
    )


def _play_all(rounds: _Rounds, limits: Limits) -> None:
    """All rounds that count. Which of them are checked, when launches are counted and when the weights change is drawn
    here and told to nobody; there are checks after every change. Rounds beyond the least number are checked and counted
    as often as those before.
    """
    count = limits.min_trials
    checked = sorted(_SOURCE.sample(range(count), min(TIMED_CHECKS, count)))
    change_at = _change_rounds(checked)
    counted = _SOURCE.sample(range(count), min(COUNTED_CALLS, count))
    started = time.monotonic()
    for index in range(limits.max_trials):
        if index >= count and time.monotonic() - started > limits.timing_budget_s:
            break
        if index in change_at:
            rounds.change()
        seed = _seed()
        rounds.play(seed)
        if index in checked or _is_drawn(index, count, TIMED_CHECKS):
            rounds.check(seed)
        if index in counted or _is_drawn(index, count, COUNTED_CALLS):
            rounds.count()


def _change_rounds(checked: list[int]) -> set[int]:
    """Rounds before which weights change, with checks between them and after the last."""
    bounds = [0] + [checked[len(checked) * part // (WEIGHT_CHANGES + 1)] for part in range(1, WEIGHT_CHANGES + 1)]
    return {_SOURCE.randint(min(low + (low > 0), high), high) for low, high in itertools.pairwise(bounds)}


def _is_drawn(index: int, count: int, often: int) -> bool:
    """Whether a round beyond the first `count` is one of those that are looked at, `often` in as many."""
    return index >= count and _SOURCE.random() < often / count


def time_alone(reference: Reference, timing: TimingFact, settle: bool, core: OneCore) -> TimingFact:
    """Time eager again now that the candidate is gone, and note it. Raises ReferenceFault.

    Where it is quicker now, it is timed anew to be sure, and once with all its launches enqueued before.
    """
    alone = _eager_alone(reference, settle, core, timing.hold_ms)
    held = 0.0
    for _ in range(ALONE_TRIES - 1):
        if not was_slowed(timing.eager_ms, alone):
            break
        alone = max(alone, _eager_alone(reference, settle, core, timing.hold_ms))
        held = _eager_alone(reference, False, core, min(HOLD_FACTOR * alone, LONGEST_HOLD_MS))
    return replace(timing, alone_ms=[alone], held_ms=[held])


def _eager_alone(reference: Reference, settle: bool, core: OneCore, hold_ms: float) -> float:
    """Eager's median in milliseconds, on the inputs of the rounds before."""
    readings = []
    for _ in range(WARMUP_ROUNDS + ALONE_ROUNDS):
        core.renew()
        reading = reference.ask("time", side="eager", seed=_seed(), settle=settle, hold_ms=hold_ms)
        readings.append(float(reading["stream_ms"]))
    return median_of(readings[WARMUP_ROUNDS:])


def _seed() -> int:
    """Of values that nobody knew before."""
    return secrets.randbits(48)


def rehearse(reference: Reference, run: CandidateRun) -> TimingFact:
    """The rounds of timing without a clock, for the CPU: some outputs are compared, the last one always."""
    rounds = _Rounds(reference, run, OneCore([]), [], settle=False)
    rounds.prepare()
    change_at = [_SOURCE.randint(1, 3)]
    change_at += [change_at[0] + step for step in range(1, WEIGHT_CHANGES)]
    started, count, is_last = time.monotonic(), 0, False
    while not (is_last or any(check.found for check in rounds.checks)):
        count += 1
        is_last = count >= MIN_TRIALS or (count > change_at[-1] and time.monotonic() - started > REHEARSAL_BUDGET_S)
        if count in change_at or is_last:
            rounds.change()
        seed = _seed()
        rounds.rehearse(seed)
        if is_last or count in change_at or _SOURCE.random() < TIMED_CHECKS / MIN_TRIALS:
            rounds.check(seed)
    seeds = [_seed() for _ in range(_BURST_CALLS[0])]
    run.ask("burst", seeds=seeds, idle=False)
    rounds.check_burst(seeds[-1])
    return TimingFact(checks=rounds.checks, launches=rounds.launches, repeats_reference=rounds.repeats_reference)


def _longest_gap(eager_gap: float, settle: bool) -> float:
    """Milliseconds that waiting for the whole device may add to the stream's end before they count as work.

    No tolerance where other streams are known to be used (`settle`).
    """
    return max(eager_gap * (1.0 if settle else GAP_FACTOR), GAP_FLOOR_MS)


def _outside_clock(rounds: _Rounds, claimed_ms: float) -> float:
    """Milliseconds per call by the judge's own clock: the best of a few bursts, each call on values of its own, less
    what a burst takes that only makes the values. The last output of the last burst is compared.
    """
    low, high = _BURST_CALLS
    count = max(low, min(high, int(_BURST_MS / max(claimed_ms, 1e-3))))
    empty, full = [], []
    for _ in range(_BURSTS):
        rounds.core.renew()
        seeds = [_seed() for _ in range(count)]
        empty.append(_wall_ms(rounds.run, seeds, idle=True))
        full.append(_wall_ms(rounds.run, seeds, idle=False))
    rounds.check_burst(seeds[-1])
    return max((min(full) - min(empty)) / count, 0.0)


def _wall_ms(run: CandidateRun, seeds: list[int], idle: bool) -> float:
    started = time.perf_counter()
    run.ask("burst", seeds=seeds, idle=idle)
    return (time.perf_counter() - started) * 1000


def _output_floor(output_bytes: float, machine: dict[str, float]) -> float:
    """Milliseconds that writing the outputs takes at the memory's peak rate; 0 where they may stay in the cache."""
    rate, l2 = machine.get("peak_bytes_per_ms") or 0.0, machine.get("l2_bytes") or 0.0
    return output_bytes / rate if rate and output_bytes > _EXCHANGE_L2 * l2 else 0.0
