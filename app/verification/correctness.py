"""The correctness protocol, conducted from outside: the reference's process knows what is right."""

import secrets
from dataclasses import dataclass, field
from typing import Any

from app.verification.candidate import CandidateRun
from app.verification.facts import CaseFact
from app.verification.kernel_names import OPAQUE_EXTENSION
from app.verification.protocol import CASES, KNOCK_OUTS
from app.verification.reference import Reference, move

REPEATED_CASE = "random weights"
TENSOR_LIMIT = 2**40


@dataclass
class CorrectnessFacts:
    """What the cases showed, gathered while they run."""

    cases: list[CaseFact] = field(default_factory=list)
    degenerate: bool = False
    launches: dict[str, int] = field(default_factory=dict)
    last_launches: int = 0
    knocked_out_matches: bool | None = None
    repeats_reference: bool = False


def run_cases(reference: Reference, run: CandidateRun, count: int, gathered: CorrectnessFacts) -> None:
    """Run the first `count` cases, stopping at the first that fails. Raises CandidateFault and ReferenceFault."""
    seed = 0
    for name in CASES[:count]:
        seed = seed if name == "one element changed" and seed else secrets.randbits(48)
        about = reference.ask("case", name=name, seed=seed)
        gathered.degenerate = gathered.degenerate or about["degenerate"]
        if name in ("initial weights", "random weights"):
            send_weights(reference, run)
        send_inputs(reference, run, about)
        fact = _one_case(reference, run, name, seed, about)
        gathered.cases.append(fact.case)
        gathered.launches |= fact.launches
        gathered.last_launches = sum(count for kernel, count in fact.launches.items() if kernel != OPAQUE_EXTENSION)
        if fact.has_failed:
            return
    gathered.knocked_out_matches = _knock_out(reference, run)
    wanted, done = reference.ask("trace")["operators"], run.ask("trace", seed=seed)["operators"]
    gathered.repeats_reference = repeats(wanted, done)


def repeats(wanted: dict[str, int], done: dict[str, int]) -> bool:
    """Whether operators of torch that were called contain all that the reference calls, as often."""
    return bool(wanted) and all(done.get(name, 0) >= count for name, count in wanted.items())


def send_weights(reference: Reference, run: CandidateRun) -> None:
    """The reference's state into the candidate's model, by strict load_state_dict."""
    offered = reference.ask("offer", what="weights")
    run.ask("expect", specs=offered["specs"], limit=TENSOR_LIMIT)
    move(reference.ask, run.ask, offered["size"])
    run.ask("set_weights", keys=reference.loaded["keys"])


def send_inputs(reference: Reference, run: CandidateRun, about: dict[str, Any]) -> None:
    """The case's inputs, written to the addresses that the candidate's inputs have already."""
    offered = reference.ask("offer", what="inputs")
    run.ask("expect", specs=offered["specs"], limit=TENSOR_LIMIT)
    move(reference.ask, run.ask, offered["size"])
    run.ask("set_inputs", tree=about["tree"], strides=[spec["stride"] for spec in offered["specs"]])


def compare_output(reference: Reference, run: CandidateRun, output: dict[str, Any]) -> dict[str, Any]:
    """Bring the candidate's output to the reference's process and compare it there."""
    found = reference.ask("expect_output", tree=output["tree"], specs=output["specs"])
    if found["mismatch"]:
        return {**found, "stale": False}
    move(run.ask, reference.ask, found["size"])
    return reference.ask("compare")


@dataclass(frozen=True)
class _Outcome:
    case: CaseFact
    launches: dict[str, int]

    @property
    def has_failed(self) -> bool:
        return bool(self.case.mismatch or self.case.repeat_mismatch or self.case.mutated or self.case.alias)


def _one_case(reference: Reference, run: CandidateRun, name: str, seed: int, about: dict[str, Any]) -> _Outcome:
    output = run.ask("run", seed=seed)
    found = compare_output(reference, run, output)
    repeat = ""
    alias = output["alias"]
    if name == REPEATED_CASE and not found["mismatch"]:
        again = run.ask("run", seed=seed)
        repeat = compare_output(reference, run, again)["mismatch"]
        alias = alias or again["alias"]
    case = CaseFact(
        name=name,
        mismatch=found["mismatch"],
        detail=found["detail"],
        worst=found["worst"],
        max_abs_error=found["max_abs_error"],
        oracle_used=found["oracle_used"],
        stale=found["stale"],
        mutated=output["mutated"] and not about["mutates"],
        alias="" if about["aliases"] else alias,
        repeat_mismatch=repeat,
        note=about["note"],
    )
    return _Outcome(case, output["launches"])


def _knock_out(reference: Reference, run: CandidateRun) -> bool | None:
    """Whether the output is right although no kernel had an effect; None where no launch could be held back.

    After the cases and on fresh inputs: memory holds other results then, and whatever the candidate keeps is spoilt for
    no case. What is right once is tried on other inputs: a loss may happen to be what its kernel's absence makes it.
    """
    fills = [False, True]
    for _ in range(KNOCK_OUTS):
        seed = secrets.randbits(48)
        send_inputs(reference, run, reference.ask("case", name="knocked out", seed=seed))
        still = []
        for leaving_ones in fills:
            output = run.ask("run_knocked_out", seed=seed, leaving_ones=leaving_ones)
            if not output["held_back"]:
                return None
            if not output["failed"] and not compare_output(reference, run, output)["mismatch"]:
                still.append(leaving_ones)
        fills = still
        if not fills:
            return False
    return True
