"""Controls: what must pass, what must fail, and a race of the reference against itself that shows the noise."""

import ast
from dataclasses import dataclass, field
from pathlib import Path

from app.errors import InvalidInput
from app.verification.batch import Job, verify_many
from app.verification.candidate import Candidate, read_candidate
from app.verification.problem import Problem, read_problem
from app.verification.protocol import NOISE_FLOOR, Limits
from app.verification.record import RunRecord
from app.vocabulary import Verdict

KNOWN_BAD = Path(__file__).parent / "known_bad"

_REFERENCE = """

ModelNew = Model
"""

_ZEROS = """

def _zeros(value):
    if isinstance(value, torch.Tensor):
        return torch.zeros_like(value)
    return type(value)(map(_zeros, value))


class ModelNew(Model):
    def forward(self, *inputs):
        return _zeros(super().forward(*inputs))
"""


@dataclass(frozen=True)
class ControlReport:
    """Both controls of one problem. `ratio` is eager against eager in another process, None without a GPU.

    A problem with complaints is to be quarantined: its kernels keep their last verdict.
    """

    problem: Problem
    reference: RunRecord
    zeros: RunRecord
    complaints: list[str] = field(default_factory=list)

    @property
    def ratio(self) -> float | None:
        """The A/A ratio."""
        return None if self.reference.figures is None else self.reference.figures.speedup


def reference_as_candidate(problem: Problem) -> Candidate:
    """The reference itself, as a candidate that must pass. Raises InvalidInput when the file cannot be parsed."""
    return _control(problem, _REFERENCE, "reference")


def zeros_as_candidate(problem: Problem) -> Candidate:
    """A candidate that must fail: right structure, shapes and dtypes, all zero. Raises InvalidInput as above."""
    return _control(problem, _ZEROS, "zeros")


def run_controls(problems: list[Problem], device: str, limits: Limits | None = None) -> list[ControlReport]:
    """Run both controls of every problem on one device."""
    jobs = [
        Job(problem, make(problem)) for problem in problems for make in (reference_as_candidate, zeros_as_candidate)
    ]
    records = verify_many(jobs, device, limits)
    return [report_of(p, records[2 * i], records[2 * i + 1]) for i, p in enumerate(problems)]


def report_of(problem: Problem, reference: RunRecord, zeros: RunRecord) -> ControlReport:
    """What the two records say about the problem."""
    ratio = None if reference.figures is None else reference.figures.speedup
    return ControlReport(problem, reference, zeros, complaints_of(reference.verdict, ratio, zeros.verdict))


def complaints_of(reference: Verdict, ratio: float | None, zeros: Verdict) -> list[str]:
    """What speaks against a problem: verdicts of both controls, and the reference's time against itself."""
    complaints = []
    if not reference.is_success and reference is not Verdict.DEGENERATE_PROBLEM:
        complaints.append(f"the reference as candidate is {reference}")
    if zeros.is_success:
        complaints.append("zeros pass")
    if ratio is not None and abs(ratio - 1.0) > NOISE_FLOOR:
        complaints.append(f"the reference against itself gives {ratio:.3f}")
    return complaints


def known_bad() -> list[str]:
    """Names of candidates that cheat or are wrong, each in a plain way: an evaluator that passes one has a fault."""
    return sorted(path.stem for path in KNOWN_BAD.glob("*.py") if path.stem != "problem")


def known_bad_job(name: str) -> Job:
    """A known-bad candidate with its problem. Raises InvalidInput for a name that is none."""
    if name not in known_bad():
        raise InvalidInput(f"no such known-bad candidate: {name}")
    return Job(read_problem(KNOWN_BAD / "problem.py"), read_candidate(KNOWN_BAD / f"{name}.py"))


def _control(problem: Problem, ending: str, name: str) -> Candidate:
    try:
        source = problem.path.read_text(encoding="utf-8")
        ast.parse(source)
    except (OSError, ValueError, SyntaxError) as fault:
        raise InvalidInput(f"the problem {problem.name} cannot be read: {fault}") from fault
    return Candidate((source + ending).encode(), f"{name} of {problem.name}", is_control=True)
