"""Looks at a candidate between the rounds of timing, at moments that are told to nobody."""

import secrets

from app.verification.candidate import CandidateRun
from app.verification.correctness import TENSOR_LIMIT, compare_output
from app.verification.facts import CheckFact
from app.verification.reference import Reference, move


def check_timed(reference: Reference, run: CandidateRun, seed: int) -> CheckFact:
    """Compare the output of the timed call on the values of `seed`, as it was when the clock stopped; what it wrote to;
    what is changed in its process now. Raises CandidateFault and ReferenceFault.
    """
    output = run.ask("describe")
    expected = reference.ask("expect_timed", seed=seed)
    mismatch = compare_output(reference, run, output)["mismatch"]
    changes = run.ask("changes")
    return CheckFact(
        mismatch=mismatch,
        mutated=output["mutated"] and not expected["mutates"],
        alias="" if expected["aliases"] else output["alias"],
        tampered=[*changes["patched"], *changes["switches"], *changes["environment"]],
        threads=changes["threads"],
        processes=run.child.processes_below(),
    )


def renew_whole_numbers(reference: Reference, run: CandidateRun) -> None:
    """Draw the inputs that are no floats anew, for both sides. Raises CandidateFault and ReferenceFault."""
    offered = reference.ask("renew_whole_numbers", seed=secrets.randbits(48))
    if offered["size"]:
        run.ask("expect", specs=offered["specs"], limit=TENSOR_LIMIT)
        move(reference.ask, run.ask, offered["size"])
        run.ask("set_whole_numbers")


def change_weights(reference: Reference, run: CandidateRun) -> None:
    """Change the weights of both sides alike. Raises CandidateFault and ReferenceFault."""
    names, seed = reference.loaded["parameters"], secrets.randbits(48)
    reference.ask("change_weights", names=names, seed=seed)
    run.ask("change_weights", names=names, seed=seed)
