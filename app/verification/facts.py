"""What was recorded about a run, as plain frozen values. The verdict is a function of these and of nothing else."""

from dataclasses import dataclass, field, replace

from app.verification.protocol import HOLD_MS

PHASES = ("load", "correctness", "profile", "timing")


@dataclass(frozen=True)
class PhaseEnd:
    """How a phase ended otherwise than well. `kind` as in ChildFault; `error_type` names an exception in the child."""

    phase: str
    kind: str
    detail: str = ""
    error_type: str = ""

    @property
    def weights_mismatch(self) -> str:
        """What a strict load of the reference's weights said against the candidate's, if that ended the phase."""
        is_mismatch = self.error_type == "RuntimeError" and "Error(s) in loading state_dict" in self.detail
        return self.detail.split("\nTraceback")[0][:500] if is_mismatch else ""


@dataclass(frozen=True)
class CaseFact:
    """One correctness case. `mismatch` is empty or one of structure, shape, dtype, nonfinite, value.

    `repeat_mismatch` is the same for a second call on the same inputs and seed; `stale` tells that a wrong output was
    the right one of the case before; `alias` is empty, `input` or `previous output`.
    """

    name: str
    mismatch: str = ""
    detail: str = ""
    worst: float = 0.0
    max_abs_error: float = 0.0
    oracle_used: bool = False
    stale: bool = False
    mutated: bool = False
    alias: str = ""
    repeat_mismatch: str = ""
    note: str = ""


@dataclass(frozen=True)
class CheckFact:
    """One look between the rounds of timing: at the output of the last one, and at the process that made it.

    `mismatch` as in CaseFact; `tampered` names what is replaced or switched at this moment.
    """

    mismatch: str = ""
    mutated: bool = False
    alias: str = ""
    tampered: list[str] = field(default_factory=list)
    threads: int = 0
    processes: int = 0

    @property
    def found(self) -> bool:
        """Whether there is anything to hold against the candidate."""
        return self != CheckFact()


@dataclass(frozen=True)
class LaunchFact:
    """Whose kernels ran. Times in microseconds; on the CPU only launches are counted.

    `streams` counts the streams that work ran on, the marker's included. `knocked_out_matches` is None where
    nothing could be knocked out. `last_launches` counts those of the last correctness case; `repeats_reference` tells
    that torch computed in the candidate all that it computes in the reference.
    """

    marker_seen: bool = False
    own_us: float = 0.0
    total_us: float = 0.0
    kernels: dict[str, float] = field(default_factory=dict)
    launches: dict[str, int] = field(default_factory=dict)
    streams: int = 0
    knocked_out_matches: bool | None = None
    last_launches: int = 0
    repeats_reference: bool = False


@dataclass(frozen=True)
class TimingFact:
    """Times in milliseconds, one entry per round and side; the outside clock's view of the candidate beside them.

    `gap_ms` is by how much eager's device-wide end came after its end on the stream (median): the cost of measuring.
    `candidate_gap_ms` is the candidate's own, longer where work was left on other streams. `alone_ms` is eager's median
    after the candidate had ended; where that was quicker, `held_ms` is the device's part of it, with all launches
    enqueued before, and 0 elsewhere. `launches` counts those of some calls that were made like the timed ones;
    `repeats_reference` tells that torch computed in one of them all that it computes in the reference.
    `on_one_core` tells that all sides were launched from the same core of the host. `hold_ms` is how long the device
    was held before each call, `held_share` what was left of a call with all its launches enqueued before (hold.py).

    A launch-bound run is timed in several pairs of processes: `pair_rounds` counts the rounds of each, in order, and
    `alone_ms` and `held_ms` have an entry for each; `compile_ms` covers the first pair's rounds only.
    """

    eager_ms: list[float] = field(default_factory=list)
    compile_ms: list[float] = field(default_factory=list)
    candidate_ms: list[float] = field(default_factory=list)
    candidate_gap_ms: list[float] = field(default_factory=list)
    gap_ms: float = 0.0
    outside_ms: float | None = None
    output_floor_ms: float = 0.0
    checks: list[CheckFact] = field(default_factory=list)
    launches: list[int] = field(default_factory=list)
    repeats_reference: bool = False
    compile_note: str = ""
    pair_rounds: list[int] = field(default_factory=list)
    alone_ms: list[float] = field(default_factory=list)
    held_ms: list[float] = field(default_factory=list)
    on_one_core: bool = False
    hold_ms: float = HOLD_MS
    held_share: float = 1.0

    @property
    def has_wrong_output(self) -> bool:
        """Whether a checked round gave another output than the reference."""
        return any(check.mismatch for check in self.checks)

    def joined(self, later: "TimingFact") -> "TimingFact":
        """This timing and that of a later pair of processes as one."""
        return replace(
            self,
            eager_ms=self.eager_ms + later.eager_ms,
            candidate_ms=self.candidate_ms + later.candidate_ms,
            candidate_gap_ms=self.candidate_gap_ms + later.candidate_gap_ms,
            gap_ms=max(self.gap_ms, later.gap_ms),
            outside_ms=max(self.outside_ms or 0.0, later.outside_ms or 0.0),
            checks=self.checks + later.checks,
            launches=self.launches + later.launches,
            repeats_reference=self.repeats_reference or later.repeats_reference,
            pair_rounds=self.pair_rounds + later.pair_rounds,
            alone_ms=self.alone_ms + later.alone_ms,
            held_ms=self.held_ms + later.held_ms,
            on_one_core=self.on_one_core and later.on_one_core,
        )


@dataclass(frozen=True)
class Facts:
    """Everything recorded about one run. `infrastructure` is (verdict, detail) when the evaluator itself failed.

    `asks_for_gpu` tells that the source looks whether there is one.
    """

    rejections: list[str] = field(default_factory=list)
    static_flags: list[str] = field(default_factory=list)
    declared_kernels: list[str] = field(default_factory=list)
    infrastructure: tuple[str, str] | None = None
    end: PhaseEnd | None = None
    weights_mismatch: str = ""
    cases: list[CaseFact] = field(default_factory=list)
    degenerate: bool = False
    patched: list[str] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    environment: list[str] = field(default_factory=list)
    threads: int = 0
    processes_left: int = 0
    launch: LaunchFact | None = None
    timing: TimingFact | None = None
    requires_kernel: bool = True
    on_gpu: bool = False
    asks_for_gpu: bool = False
    printed_bytes: int = 0
    shims: list[str] = field(default_factory=list)
