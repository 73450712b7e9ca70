"""The protected evaluator: judges one kernel on one device. Needs the standard library, torch and triton only."""

from app.verification.batch import Job, verify_many
from app.verification.candidate import Candidate, read_candidate
from app.verification.judge import verify
from app.verification.problem import Problem, read_problem
from app.verification.protocol import CPU_LIMITS, GPU_LIMITS, Limits
from app.verification.record import Figures, RunRecord

__all__ = [
    "CPU_LIMITS",
    "GPU_LIMITS",
    "Candidate",
    "Figures",
    "Job",
    "Limits",
    "Problem",
    "RunRecord",
    "read_candidate",
    "read_problem",
    "verify",
    "verify_many",
]
