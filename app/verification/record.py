"""A verification run as a frozen value that goes to JSON and back, with a validator that ties figures to verdicts."""

from dataclasses import asdict, dataclass, field
from typing import Any

from app.errors import InvalidInput
from app.verification.protocol import NOISE_FLOOR
from app.vocabulary import Verdict

SCHEMA = 1


@dataclass(frozen=True)
class Figures:
    """What was measured. Ratios are baseline time over candidate time, per round; milliseconds are medians.

    `speedup` is the median ratio against eager, `speedup_lo95` and `speedup_hi95` its one-sided 95 % bounds;
    `own_kernel_time_frac` the share of device time in the candidate's declared kernels; `score` the speedup capped.
    """

    speedup: float
    speedup_lo95: float
    speedup_hi95: float
    speedup_mean: float
    speedup_vs_compile: float | None
    speedup_vs_compile_lo95: float | None
    own_kernel_time_frac: float | None
    trials: int
    eager_ms: float
    compile_ms: float | None
    candidate_ms: float
    fast1: bool
    score: float


def is_slower(speedup_hi95: float) -> bool:
    """Whether even the upper bound lies below what an A/A control may show."""
    return speedup_hi95 < 1.0 - NOISE_FLOOR


@dataclass(frozen=True)
class RunRecord:
    """One judgement of one candidate on one device.

    `device` is `cuda:N` or `cpu-interpreter`; `started_at` is UTC in ISO 8601; `seconds` the run's length on the wall.
    Raises InvalidInput when figures and verdict contradict each other.
    """

    problem: dict[str, Any]
    candidate: dict[str, Any]
    device: str
    verdict: Verdict
    detail: str
    flags: list[str]
    figures: Figures | None
    evidence: dict[str, Any]
    fingerprint: dict[str, Any]
    started_at: str
    seconds: float
    phases: dict[str, float] = field(default_factory=dict)
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if self.figures is None:
            return
        if not self.verdict.is_success:
            raise InvalidInput(f"a run that is {self.verdict} carries no figures")
        if not self.device.startswith("cuda"):
            raise InvalidInput("figures come from a GPU only")
        if self.figures.speedup_lo95 > self.figures.speedup or self.figures.speedup > self.figures.speedup_hi95:
            raise InvalidInput("the bounds do not enclose the speedup")
        if self.figures.fast1 != (self.figures.speedup_lo95 > 1.0):
            raise InvalidInput("fast1 contradicts the lower bound")
        if (self.verdict is Verdict.VERIFIED_SLOWER) != is_slower(self.figures.speedup_hi95):
            raise InvalidInput(f"{self.verdict} contradicts an upper bound of {self.figures.speedup_hi95:.3f}")

    @property
    def success(self) -> bool:
        """Whether the kernel is correct and its own."""
        return self.verdict.is_success

    @property
    def score(self) -> float:
        """The capped speedup; 0 where the kernel is wrong or nothing was timed."""
        return self.figures.score if self.figures is not None else 0.0

    def to_json(self) -> dict[str, Any]:
        """Plain values; `success` and `score` are added for readers."""
        return {**asdict(self), "verdict": self.verdict.value, "success": self.success, "score": self.score}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "RunRecord":
        """The inverse of `to_json`. Raises InvalidInput for other shapes."""
        try:
            known = {name: data[name] for name in cls.__dataclass_fields__}
            figures = None if known["figures"] is None else Figures(**known["figures"])
            return cls(**{**known, "verdict": Verdict(known["verdict"]), "figures": figures})
        except (KeyError, TypeError, ValueError) as fault:
            raise InvalidInput(f"no run record: {fault}") from fault
