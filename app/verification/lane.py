"""One device that judges runs as they come: several side by side, each of them timed alone."""

from app.verification.batch import RETRIED_ALONE, Job, side_by_side
from app.verification.gate import GpuGate
from app.verification.judge import verify_in
from app.verification.protocol import Limits
from app.verification.record import RunRecord
from app.verification.session import Session
from app.verification.watch import Watch


class Lane:
    """A device with its gate. `judge` may be called from `count` threads at once.

    Raises InvalidInput for a device that makes no sense.
    """

    def __init__(self, device: str, limits: Limits | None = None, count: int | None = None) -> None:
        self.session = Session.open(device, limits)
        self.count = count or side_by_side()
        self.session.is_alone = self.count == 1
        self._company = GpuGate()

    def judge(self, job: Job, watch: Watch | None = None) -> RunRecord:
        """Judge one job; where neighbours may have hurt it, again and alone, and that verdict counts."""
        with self._company.shared():
            record = self._judged(job, watch)
        if self.session.gpu is None or self.count == 1 or record.verdict not in RETRIED_ALONE:
            return record
        with self._company.exclusive():
            self.session.is_alone = True
            try:
                return self._judged(job, watch)
            finally:
                self.session.is_alone = False

    def close(self) -> None:
        """End the references that are kept."""
        self.session.pool.close()

    def _judged(self, job: Job, watch: Watch | None) -> RunRecord:
        self.session.pool.expect(job.problem)
        return verify_in(self.session, job.problem, job.candidate, job.limits or self.session.limits, watch)
