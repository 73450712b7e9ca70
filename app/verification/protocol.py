"""Every constant of the protocol, each with its reason; docs/verification.md repeats them and a test compares."""

from dataclasses import dataclass, replace
from typing import Any

from app.errors import InvalidInput

PROTOCOL_VERSION = 2
"""Raised by hand when the meaning of a figure changes; part of the evaluator's fingerprint."""

TOLERANCE_FULL = 1e-4
"""atol = rtol for float32 and wider: honest fp32 kernels stay near 1e-6, tf32 and half inside land near 1e-3."""

TOLERANCE_HALF = 1e-2
"""atol = rtol for float16 and bfloat16: one rounding of bfloat16 is 4e-3."""

YARDSTICK_FACTOR = 2.0
"""A candidate may err against the fp64 oracle as much as eager itself does, times this (another order of summation)."""

DEGENERATE_SHARE = 0.999
"""A problem is degenerate when zeros, or one constant, pass on at least this share of the output elements."""

CASES = ("initial weights", "random weights", "fresh values", "modulated inputs", "one element changed")
"""The correctness cases in order; all but the first write new values to the same addresses."""

WEIGHT_NOISE = 0.2
"""Relative size of the noise put on parameters: enough to unmask an assumed bias of 0 or gamma of 1, small enough to
keep the scale of activations."""

ZERO_WEIGHT_NOISE = 0.1
"""Absolute noise on parameters that are all zero (a fresh bias)."""

MODULATION_LOW, MODULATION_HIGH = 0.3, 1.0
"""Elementwise factor on float inputs in the modulated case: it breaks closed forms for uniform inputs and keeps zeros,
signs and the range."""

TIMING_FACTOR_LOW, TIMING_FACTOR_HIGH = 0.5, 1.0
"""Factor on every element of float inputs, drawn anew for every timed round, so that no round sees the values of
another and none follows from another's result."""

WEIGHT_FACTOR_LOW, WEIGHT_FACTOR_HIGH, WEIGHT_SHARE = 0.7, 0.9, 0.125
"""Factor, or its inverse, on a random share of the interior of all parameters, at moments told to nobody while a run is
timed: what was derived from weights before is stale then. Without float inputs weights change before every round."""

WEIGHT_CHANGES = 3
"""How often weights change while a run is timed. Whoever looks at one element only, to see whether weights are the
same, is stale unless that element changes each time, which is 1 in 512."""

COUNTED_CALLS = 3
"""Calls among the timed ones whose launches and operators are counted and whose time is not taken: whoever launches in
the cases and never here, or leaves the work to torch here, is timed without its kernel."""

KNOCK_OUTS = 3
"""Inputs on which an output without its kernels must be right before the kernel is called a decoy: a loss may be what
the absence of its kernel makes it, within the tolerance, once or twice."""

MIN_TRIALS = 30
"""Rounds at the least; a one-sided 95 % bound from fewer is too wide to tell 1.02x from 1x."""

MAX_TRIALS = 60
"""Rounds at the most; past it the bound narrows too slowly to pay."""

TIMING_BUDGET_S = 2.5
"""Seconds after which no round starts beyond MIN_TRIALS: 45 kernels must fit in 8 minutes of device time."""

WARMUP_ROUNDS = 3
"""Untimed rounds of each side before the first timed one: autotuning, allocator growth and clocks settle."""

TIMED_CHECKS = 6
"""Rounds, chosen at random and told to nobody, whose output is compared again. A kernel must be stale in more than half
of the rounds to move a median: six checks miss that once in 64, and a higher share far more rarely."""

REHEARSAL_BUDGET_S = 3.0
"""Seconds for the rounds that stand for timing where nothing is timed; they show who cheats by counting calls."""

BOOTSTRAP_DRAWS = 2000
"""Resamples for the lower bound; the Monte Carlo error of the bound is then far below its width."""

NOISE_FLOOR = 0.02
"""What an A/A control may differ from 1.0."""

SCORE_CAP = 10.0
"""Speedups above it count as this in `score` and raise the flag excessive_speedup."""

CLOCK_FACTOR, CLOCK_SLACK_MS = 1.5, 0.15
"""Outside clock against claimed device time: beyond claimed * factor + slack the candidate's clock is not believed,
unless the profile shows no more work than that and the rest is launches that the hold can have hidden."""

GAP_FACTOR, GAP_FLOOR_MS = 1.5, 0.03
"""Device-wide end after the end on the caller's stream: up to eager's own * factor, or the floor, it is the cost of
measuring, which differs by microseconds between two processes; what is beyond counts as the side's work."""

STREAM_FACTOR, STREAM_SLACK_MS = 3.0, 0.1
"""Device-wide end after the end on the caller's stream, against eager's: beyond it work was left on another stream."""

OUTPUT_FLOOR_SHARE = 0.7
"""A run that writes its outputs faster than this share of the memory's peak rate would allow did not write them."""

PROFILER_TRIES = 3
"""Profiles taken before a profile without any event is called a fault of the profiler."""

L2_FLUSH_FACTOR = 4
"""Bytes overwritten before each timed run, in sizes of the L2 cache: twice would empty it, more costs little."""

HOLD_MS = 1.0
"""How long the device is held before each timed call, so that the host enqueues launches meanwhile: their latency,
which differs between two processes, then does not count, as in a loop that never waits. Later launches count where the
run is launch-bound."""

HOLD_FACTOR, LONGEST_HOLD_MS = 2.0, 200.0
"""Where eager or the candidate enqueues for more than HOLD_MS / factor, the device is held for factor times as long, up
to the longest hold: a core of a busy host is up to 1.7 times as slow as before. Launch-bound runs keep HOLD_MS."""

HOLD_ROUNDS = 5
"""Rounds behind either hold that show whether a run is launch-bound: the quickest call behind HOLD_MS is compared with
the median behind the longer hold, so that a host that is slow for a moment makes no run launch-bound."""

LAUNCH_BOUND_SHARE = 0.6
"""A run whose device works less than this share of its time, or of which eager or the candidate takes less than this
share when all launches are enqueued before, waits for the host; a flag says so, as another host gives another ratio."""

LAUNCH_BOUND_PAIRS = 3
"""Pairs of fresh processes in which a launch-bound run is timed: where memory happens to lie makes one process launch a
few per cent faster than the next, for as long as it lives."""

SLOW_CORE_FACTOR = 1.2
"""All sides of a round are launched from one core of the host. One that takes this much longer for a short loop than
the quickest so far is left before the round begins: its other half is busy, say."""

ALONE_ROUNDS, ALONE_TRIES = 7, 3
"""Rounds in which eager is timed again after the candidate has ended, and how often where it then is quicker: the
slowest of the medians counts."""

SLOWED_FACTOR, SLOWED_SLACK_MS = 1.1, 0.02
"""Eager beside the candidate's process against eager alone: beyond alone * factor + slack the candidate held it up."""

SLOWED_LAUNCHING_FACTOR = 1.5
"""The same where eager waits for the host's launches: its time then varies with the host by itself."""

MAX_SOURCE_BYTES = 2_000_000
"""Longer candidates are refused unread."""

CHUNK_BYTES = 128 * 2**20
"""Size of the shared buffer through which tensors travel; page-locked on the GPU path."""


@dataclass(frozen=True)
class Limits:
    """What one run may use. Seconds per phase, bytes, counts."""

    load_s: float = 300.0
    correctness_s: float = 120.0
    profile_s: float = 60.0
    timing_s: float = 120.0
    reference_s: float = 180.0
    compile_s: float = 480.0
    host_memory: int = 32 * 2**30
    device_memory: int = 96 * 2**30
    file_bytes: int = 2 * 2**30
    processes: int = 512
    output_bytes: int = 8 * 2**20
    seeds: int = len(CASES)
    min_trials: int = MIN_TRIALS
    max_trials: int = MAX_TRIALS
    timing_budget_s: float = TIMING_BUDGET_S
    with_compile: bool = True

    def changed(self, **values: Any) -> "Limits":
        """A copy with some limits replaced. Raises InvalidInput for a name that is no limit."""
        unknown = sorted(set(values) - set(self.__dataclass_fields__))
        if unknown:
            raise InvalidInput(f"no such limit: {', '.join(unknown)}")
        return replace(self, **values)


GPU_LIMITS = Limits()
CPU_LIMITS = Limits(
    load_s=60.0,
    correctness_s=60.0,
    profile_s=30.0,
    reference_s=60.0,
    host_memory=8 * 2**30,
    file_bytes=64 * 2**20,
    processes=64,
    with_compile=False,
)
