"""What an order asks the evaluator to judge."""

from collections.abc import Sequence
from pathlib import Path

from app.errors import InvalidInput, UnknownItem
from app.records import Run
from app.services.verifying import job_for, problem_file
from app.store import corpus, items
from app.store.database import Database
from app.verification import Job, read_problem
from app.verification.controls import known_bad_job, reference_as_candidate, zeros_as_candidate

REFERENCE, ZEROS, KNOWN_BAD = "reference", "zeros", "known-bad "
"""Names of controls; the last one is followed by the name of the candidate."""


def job_of(database: Database, run: Run, folders: Sequence[Path]) -> Job:
    """The evaluator's job for a run: a kernel as it is, or a control. InvalidInput where its problem is not here."""
    if run.control is not None and run.control.startswith(KNOWN_BAD):
        return known_bad_job(run.control.removeprefix(KNOWN_BAD))
    with database.read() as session:
        item = None if run.item_id is None else items.get(session, run.item_id)
        problems = corpus.facts(session).problems
    if run.control is None and item is None:
        raise UnknownItem(f"There is no item {run.item_id!r}.")
    problem_id = (item.source_problem if item is not None else run.problem) or ""
    path = problem_file(problems.get(problem_id), folders)
    if path is None:
        raise InvalidInput(
            f"the file of problem {problem_id or 'none'} is not in {', '.join(map(str, folders))}, or is not the one "
            "that is known; see PLAYBOOK_PROBLEMS"
        )
    if item is not None:
        if item.kernel is not None and run.content_hash not in (None, item.kernel.content_hash):
            raise InvalidInput("the kernel was edited after this run was ordered; order it again")
        return job_for(item, path)
    problem = read_problem(path)
    make = {REFERENCE: reference_as_candidate, ZEROS: zeros_as_candidate}.get(run.control or "")
    if make is None:
        raise InvalidInput(f"no such control: {run.control}")
    return Job(problem, make(problem))
