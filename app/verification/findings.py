"""What a run has shown so far: its facts, how long each phase took, and where it runs. Every step adds to it."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from app.verification.facts import Facts
from app.verification.fingerprint import host_fingerprint
from app.verification.protocol import LAUNCH_BOUND_PAIRS
from app.verification.verdict import is_launch_bound, verdict_of
from app.verification.watch import Watch

T = TypeVar("T")


class Findings:
    """Grows while a run is judged; the verdict is read off `facts` at the end."""

    def __init__(self, facts: Facts, watch: Watch) -> None:
        self.facts = facts
        self.watch = watch
        self.phases: dict[str, float] = {}
        self.fingerprint: dict[str, Any] = host_fingerprint()
        self.printed = ""

    def note(self, **values: Any) -> None:
        """Add facts, or replace them."""
        self.facts = replace(self.facts, **values)

    def timed(self, phase: str, step: Callable[[], T]) -> T:
        """Run one step as a phase; a phase that comes again counts together."""
        self.watch.enter(phase)
        started = time.monotonic()
        try:
            return step()
        finally:
            self.phases[phase] = self.phases.get(phase, 0.0) + time.monotonic() - started

    @property
    def is_decided(self) -> bool:
        """Whether the facts so far already rule a success out: no GPU time is spent on what cannot pass."""
        launch = self.facts.launch
        if launch is not None and self.facts.on_gpu:
            launch = replace(launch, marker_seen=True, own_us=float(bool(self.facts.declared_kernels)))
        return not verdict_of(replace(self.facts, timing=None, launch=launch)).is_success

    @property
    def wants_another_pair(self) -> bool:
        """Whether the figures depend on how fast one process launches, and too few processes were timed so far."""
        if not is_launch_bound(self.facts) or not verdict_of(self.facts).is_success:
            return False
        return self.facts.timing is not None and len(self.facts.timing.pair_rounds) < LAUNCH_BOUND_PAIRS
