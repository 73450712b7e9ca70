"""The judge's side of a candidate: what is to be judged, and a handle to its process with a limit per phase."""

import hashlib
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import InvalidInput
from app.verification.answers import is_well_formed
from app.verification.child import Child, ChildFault
from app.verification.facts import PhaseEnd
from app.verification.protocol import Limits
from app.verification.sandbox import Cage

_MODULE = "app.verification.candidate_process"


@dataclass(frozen=True)
class Candidate:
    """Source bytes as they came, and the class that stands for the model.

    A control is made by the evaluator itself: it needs no kernel of its own and no rule about its source applies to it.
    """

    raw: bytes
    name: str = "candidate"
    entry_point: str = "ModelNew"
    is_control: bool = False

    @property
    def sha256(self) -> str:
        """Hash of the source alone."""
        return hashlib.sha256(self.raw).hexdigest()


def read_candidate(path: Path, entry_point: str = "ModelNew") -> Candidate:
    """The candidate in a file, bytes untouched. Raises InvalidInput when it cannot be read."""
    try:
        return Candidate(path.read_bytes(), path.stem, entry_point)
    except OSError as fault:
        raise InvalidInput(f"the candidate {path.name} cannot be read: {fault.strerror}") from fault


class CandidateFault(Exception):
    """The candidate ended a phase otherwise than well."""

    def __init__(self, end: PhaseEnd) -> None:
        super().__init__(f"{end.phase}: {end.kind}")
        self.end = end


class CandidateRun:
    """One caged process for one candidate. Start it early: it imports torch while the reference loads."""

    def __init__(
        self, chunk_fd: int, gpu: int | None, limits: Limits, hidden: tuple[Path, ...], arch: str | None
    ) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="kpb-candidate-", ignore_cleanup_errors=True)
        cage = Cage(limits, Path(self._scratch.name), uuid.uuid4().hex, gpu, hidden, arch=arch)
        self.child = Child(_MODULE, cage, chunk_fd)
        self.program = self.child.process.pid
        self.is_closed = False
        self.enter("load", limits.load_s)

    def enter(self, phase: str, seconds: float) -> None:
        """Begin a phase: all requests in it share its time."""
        self._phase = phase
        self._deadline = time.monotonic() + seconds

    def ask(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Send one request within what is left of the phase. Raises CandidateFault."""
        try:
            answer = self.child.ask(op, max(0.1, self._deadline - time.monotonic()), **arguments)
        except ChildFault as fault:
            raise CandidateFault(PhaseEnd(self._phase, fault.kind, fault.detail, fault.error_type)) from fault
        if not is_well_formed(op, answer):
            raise CandidateFault(PhaseEnd(self._phase, "garbled", f"an answer to {op} of another shape"))
        return answer

    def greet(self) -> dict[str, Any]:
        """The first request. Now, while nothing of the candidate runs, its process is found inside the cage."""
        answer = self.ask("hello")
        self.program = self.child.program()
        return answer

    def close(self) -> bool:
        """End everything it started. True when nothing is left."""
        self.is_closed = True
        gone = self.child.close()
        self._scratch.cleanup()
        return gone
