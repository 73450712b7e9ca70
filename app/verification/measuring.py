"""The part of a run that has the GPU alone: timing, the profile after it, and the baseline without the candidate."""

import secrets
from collections.abc import Callable
from dataclasses import replace

from app.verification.candidate import CandidateRun
from app.verification.cores import OneCore
from app.verification.facts import LaunchFact, TimingFact
from app.verification.findings import Findings
from app.verification.hold import Hold
from app.verification.kernel_names import own_time
from app.verification.protocol import PROFILER_TRIES, Limits
from app.verification.reference import Reference
from app.verification.timing import time_alone, time_run


def measure(
    findings: Findings, reference: Reference, run: CandidateRun, limits: Limits, compiled: bool, end: Callable[[], None]
) -> None:
    """Time one pair of processes and note it, beside what earlier pairs showed. Raises CandidateFault, ReferenceFault.

    `end` looks at what the candidate changed and ends its process; eager is timed once more after it.
    """
    earlier = findings.facts.timing or TimingFact()
    with OneCore([reference.child.program(), run.program]) as core:

        def timed(settle: bool) -> TimingFact:
            run.enter("timing", limits.timing_s)
            return time_run(reference, run, limits, findings.fingerprint, compiled, settle, core, hold)

        hold = Hold(earlier.hold_ms, earlier.held_share) if earlier.candidate_ms else None
        timing = timed(settle=False)
        findings.timed("profile", lambda: _profile(findings, run, limits, timing.hold_ms))
        settle = _uses_other_streams(findings.facts.launch)
        if settle:
            settled = timed(settle=True)
            timing = replace(settled, checks=timing.checks + settled.checks)
        end()
        core.leave(run.program)
        timing = time_alone(reference, timing, settle, core)
    timing = replace(timing, compile_note=earlier.compile_note)
    findings.note(timing=earlier.joined(timing) if earlier.candidate_ms else timing)


def _uses_other_streams(launch: LaunchFact | None) -> bool:
    return launch is not None and launch.streams > 1


def _profile(findings: Findings, run: CandidateRun, limits: Limits, hold_ms: float) -> None:
    """After timing, never before: once used, the profiler slows every launch of the process."""
    run.enter("profile", limits.profile_s)
    for _ in range(PROFILER_TRIES):
        seen = run.ask("profile", seed=secrets.randbits(48), hold_ms=hold_ms)
        if seen["marker"]:
            break
    launch = findings.facts.launch or LaunchFact()
    kernels = {str(name): float(us) for name, us in seen["kernels"].items()}
    findings.note(
        launch=replace(
            launch,
            marker_seen=bool(seen["marker"]),
            own_us=own_time(kernels, findings.facts.declared_kernels, launch.launches),
            total_us=float(seen["total_us"]),
            kernels=kernels,
            streams=int(seen["streams"]),
        )
    )
