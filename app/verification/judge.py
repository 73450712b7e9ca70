"""One verification run, step by step. `verify` never raises for what a candidate does."""

import secrets
import time
from dataclasses import asdict
from datetime import UTC, datetime

from app.verification.candidate import Candidate, CandidateFault, CandidateRun
from app.verification.correctness import CorrectnessFacts, run_cases
from app.verification.facts import Facts, LaunchFact, PhaseEnd, TimingFact
from app.verification.findings import Findings
from app.verification.fingerprint import gpu_state
from app.verification.measuring import measure
from app.verification.problem import Problem
from app.verification.protocol import Limits
from app.verification.record import RunRecord
from app.verification.reference import Reference, ReferenceFault
from app.verification.session import Session
from app.verification.static_check import StaticReport, check_source, source_text
from app.verification.timing import rehearse
from app.verification.verdict import detail_of, figures_of, flags_of, verdict_of
from app.verification.watch import Watch
from app.vocabulary import Verdict

_MEMORY_SLACK = 2**30
_MEMORY_PATIENCE_S = 10.0


def verify(problem: Problem, candidate: Candidate, device: str = "cuda:0", limits: Limits | None = None) -> RunRecord:
    """Judge one candidate alone on one device. Raises InvalidInput for a device that makes no sense, nothing else."""
    session = Session.open(device, limits)
    try:
        return verify_in(session, problem, candidate, session.limits)
    finally:
        session.pool.close()


def verify_in(
    session: Session, problem: Problem, candidate: Candidate, limits: Limits, watch: Watch | None = None
) -> RunRecord:
    """Judge one candidate within a session that other runs may share; `watch` shows its phase and can end it."""
    judge = _Judge(session, limits, candidate, watch or Watch())
    started, clock = datetime.now(UTC), time.monotonic()
    try:
        if judge.may_start:
            with session.pool.borrow(problem, limits) as reference:
                judge.conduct(reference, problem)
            while judge.findings.wants_another_pair:
                with session.pool.fresh(problem, limits) as reference:
                    judge.conduct(reference, problem)
    except ReferenceFault as fault:
        judge.blame_infrastructure(fault)
    except OSError as fault:
        judge.blame_host(fault)
    judge.heed_watch()
    findings = judge.findings
    facts = findings.facts
    verdict = verdict_of(facts)
    return RunRecord(
        problem=problem.identity,
        candidate={
            "name": candidate.name, "sha256": candidate.sha256, "language": judge.report.language,
            "entry_point": candidate.entry_point, "bytes": len(candidate.raw),
        },
        device=session.device_label,
        verdict=verdict,
        detail=detail_of(facts)[:2000],
        flags=flags_of(facts),
        figures=figures_of(facts) if verdict.is_success else None,
        evidence={**asdict(facts), "printed": findings.printed},
        fingerprint=findings.fingerprint,
        started_at=started.isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - clock, 3),
        phases={name: round(seconds, 3) for name, seconds in findings.phases.items()},
    )  # fmt: skip


class _Judge:
    """Gathers the findings of one run; knows the order of the steps, leaves each to its module."""

    def __init__(self, session: Session, limits: Limits, candidate: Candidate, watch: Watch) -> None:
        self.session, self.limits, self.candidate, self.watch = session, limits, candidate, watch
        self.report = report = check_source(candidate.raw, candidate.entry_point)
        self._free_before = 0
        facts = Facts(
            rejections=[] if candidate.is_control else report.rejections,
            static_flags=report.flags,
            declared_kernels=report.kernels,
            end=PhaseEnd("load", "error", report.unreadable, "SyntaxError") if report.unreadable else None,
            infrastructure=self._cannot_start(report),
            requires_kernel=not candidate.is_control,
            on_gpu=session.gpu is not None,
            asks_for_gpu=report.asks_for_gpu,
        )
        self.findings = Findings(facts, watch)

    @property
    def may_start(self) -> bool:
        """Whether reading alone has not decided already."""
        facts = self.findings.facts
        return not (facts.rejections or facts.end or facts.infrastructure)

    def blame_infrastructure(self, fault: ReferenceFault) -> None:
        """The reference failed: nothing is said about the candidate."""
        word = Verdict.GPU_UNHEALTHY if fault.is_device_fault else Verdict.INFRA_ERROR
        whose = "problem: " if fault.fault.error_type == "ProblemFault" else "reference: "
        self._blame(word, whose + fault.fault.detail)

    def blame_host(self, fault: OSError) -> None:
        """This host could not do its part: a full disk, no more processes, no more descriptors."""
        self._blame(Verdict.INFRA_ERROR, f"host: {fault}")

    def heed_watch(self) -> None:
        """A run that was ended from outside says nothing, whatever its processes left behind."""
        if self.watch.is_stopped:
            self._blame(Verdict.CANCELLED, "ended before it was finished")

    def conduct(self, reference: Reference, problem: Problem) -> None:
        """All phases in order; what the candidate fails at ends them. Raises ReferenceFault."""
        hidden = (problem.path.resolve().parent,)
        run = CandidateRun(reference.chunk_fd, self.session.gpu, self.limits, hidden, self._arch())
        self.watch.attach(run.child, reference.child)
        try:
            with self.session.gate.pausable(run.child.process.pid):
                is_loaded = self.findings.timed("load", lambda: self._load(run))
            if not is_loaded:
                return
            with self.session.gate.shared():
                self.findings.timed("build", lambda: self._build(reference, run))
                self.findings.timed("correctness", lambda: self._correctness(reference, run))
            compiled = self.findings.timed("compile", lambda: self._compile(reference))
            self.findings.timed("timing", lambda: self._timing(reference, run, compiled))
        except CandidateFault as fault:
            self.findings.note(end=fault.end, weights_mismatch=fault.end.weights_mismatch)
        finally:
            self.watch.detach()
            reference.is_usable = reference.is_usable and not self.watch.is_stopped
            self._after(reference, run)

    def _load(self, run: CandidateRun) -> bool:
        """Import the candidate: compilers may run for long, the GPU is not needed. False where this machine cannot."""
        run.enter("load", self.limits.load_s)
        try:
            hello = run.greet()
        except CandidateFault as fault:
            # Nothing of the candidate has run yet: the GPU was full of its neighbours, say.
            self._blame(Verdict.INFRA_ERROR, f"the process did not start: {fault.end.detail}")
            return False
        missing = ""
        if self.session.gpu is not None and hello["device"] != "cuda":
            missing = f"no CUDA device {self.session.gpu} is visible here"
        elif self.report.language == "triton" and not hello["triton"]:
            missing = "triton is not installed here"
        if missing:
            self._blame(Verdict.INFRA_ERROR, missing)
            return False
        self.findings.note(shims=hello["shims"])
        run.ask("load", source=source_text(self.candidate.raw), limit=self.limits.device_memory)
        return True

    def _build(self, reference: Reference, run: CandidateRun) -> None:
        """Build both models under one seed."""
        reference.load(secrets.randbits(48))
        self.findings.fingerprint |= reference.ask("describe_machine") | self._gpu_state()
        self._free_before = reference.ask("health")["free"]
        run.enter("load", self.limits.load_s)
        run.ask(
            "build",
            entry_point=self.candidate.entry_point,
            init=reference.loaded["init"],
            seed=reference.loaded["seed"],
            training=reference.loaded["training"],
        )

    def _correctness(self, reference: Reference, run: CandidateRun) -> None:
        gathered = CorrectnessFacts()
        run.enter("correctness", self.limits.correctness_s)
        try:
            run_cases(reference, run, self.limits.seeds, gathered)
            self._audit(run)
        finally:
            launch = LaunchFact(
                launches=gathered.launches,
                last_launches=gathered.last_launches,
                knocked_out_matches=gathered.knocked_out_matches,
                repeats_reference=gathered.repeats_reference,
            )
            self.findings.note(cases=gathered.cases, degenerate=gathered.degenerate, launch=launch)

    def _compile(self, reference: Reference) -> bool:
        """Whether the reference was compiled; once per run, later pairs of processes have eager alone."""
        if self.session.gpu is None or not self.limits.with_compile or self.findings.is_decided:
            return False
        if self.findings.facts.timing is not None:
            return False
        with self.session.gate.pausable(reference.child.process.pid):
            done = reference.ask_within("compile", self.limits.compile_s)
        self.findings.note(timing=TimingFact(compile_note=done["reason"]))
        return bool(done["compiled"])

    def _timing(self, reference: Reference, run: CandidateRun, compiled: bool) -> None:
        if self.findings.is_decided:
            return
        if self.session.gpu is None:
            self.findings.note(timing=rehearse(reference, run))
            self._audit(run)
            return
        with self.session.gate.exclusive():
            measure(self.findings, reference, run, self.limits, compiled, lambda: self._finish(run))
            self.findings.fingerprint |= self._gpu_state()

    def _finish(self, run: CandidateRun) -> None:
        self._audit(run)
        self._end(run)

    def _audit(self, run: CandidateRun) -> None:
        changes = run.ask("changes")
        self.findings.note(
            patched=list(map(str, changes["patched"])),
            switches=list(map(str, changes["switches"])),
            environment=list(map(str, changes["environment"])),
            threads=int(changes["threads"]),
            processes_left=run.child.processes_below(),
        )

    def _end(self, run: CandidateRun) -> None:
        """End the candidate; nothing of it may be left. Once is enough, twice does no harm."""
        if run.is_closed:
            return
        self.findings.printed = run.child.output_tail or self.findings.printed
        printed = self.findings.facts.printed_bytes + run.child.printed
        gone = run.close()
        self.findings.note(printed_bytes=printed)
        if not gone:
            self._blame(Verdict.INFRA_ERROR, "processes of the candidate could not be ended")

    def _after(self, reference: Reference, run: CandidateRun) -> None:
        """Nothing of the candidate may be left, neither processes nor device memory."""
        self._end(run)
        if not reference.is_usable:
            return
        reference.ask("forget")
        if self.session.gpu is not None and self.session.is_alone and not self._memory_is_back(reference):
            self._blame(Verdict.GPU_UNHEALTHY, "device memory did not come back")

    def _memory_is_back(self, reference: Reference) -> bool:
        wanted = self._free_before - _MEMORY_SLACK
        deadline = time.monotonic() + _MEMORY_PATIENCE_S
        while time.monotonic() < deadline:
            health = reference.ask("health")
            if health["ok"] and health["free"] >= wanted:
                return True
            time.sleep(0.1)
        return False

    def _cannot_start(self, report: StaticReport) -> tuple[str, str] | None:
        if self.session.cancelled.is_set():
            return Verdict.CANCELLED.value, "cancelled before it began"
        if self.session.gpu is None and report.language == "cuda":
            return Verdict.INFRA_ERROR.value, "CUDA C++ needs a GPU; the interpreter runs Triton only"
        return None

    def _gpu_state(self) -> dict[str, str]:
        return {} if self.session.gpu is None else gpu_state(self.session.gpu)

    def _arch(self) -> str | None:
        """The one architecture that extensions are compiled for: naming it spares minutes of building for all."""
        return self._gpu_state().get("compute_capability")

    def _blame(self, verdict: Verdict, detail: str) -> None:
        """The evaluator or the machine failed: the run says nothing about the candidate."""
        self.findings.note(infrastructure=(verdict.value, detail))
