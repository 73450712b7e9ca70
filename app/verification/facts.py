"""What was recorded about a run, as plain frozen values. The verdict is a function of these and of nothing else."""

from dataclasses import dataclass, field

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
class LaunchFact:
    """Whose kernels ran. Times in microseconds; on the CPU only launches are counted.

    `streams` counts the streams that work ran on, the marker's included. `knocked_out_matches` is None where
    nothing could be knocked out.
    """

    marker_seen: bool = False
    own_us: float = 0.0
    total_us: float = 0.0
    kernels: dict[str, float] = field(default_factory=dict)
    launches: dict[str, int] = field(default_factory=dict)
    streams: int = 0
    knocked_out_matches: bool | None = None


@dataclass(frozen=True)
class TimingFact:
    """Times in milliseconds, one entry per round and side; the outside clock's view of the candidate beside them.

    `gap_ms` is by how much eager's device-wide end came after its end on the stream (median): the cost of measuring.
    `candidate_gap_ms` is the candidate's own, longer where work was left on other streams.
    """

    eager_ms: list[float] = field(default_factory=list)
    compile_ms: list[float] = field(default_factory=list)
    candidate_ms: list[float] = field(default_factory=list)
    candidate_gap_ms: list[float] = field(default_factory=list)
    gap_ms: float = 0.0
    outside_ms: float | None = None
    output_floor_ms: float = 0.0
    checked_rounds: int = 0
    mismatch: str = ""
    compile_note: str = ""


@dataclass(frozen=True)
class Facts:
    """Everything recorded about one run. `infrastructure` is (verdict, detail) when the evaluator itself failed."""

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
    printed_bytes: int = 0
    shims: list[str] = field(default_factory=list)
