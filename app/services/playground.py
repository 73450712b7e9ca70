"""Tries a task as an agent would send it: the ranking with its reasons, and what one or two policies make of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.records import Task
from app.services.assembly import Services
from app.services.comparison import differing_lines, items_apart
from app.services.context import Context, ContextWish
from app.services.ranking import Wish
from app.services.search import SearchAnswer

SHOWN = 10


@dataclass(frozen=True, slots=True)
class TrialWish:
    """What is tried."""

    task: Task
    reader: str
    policy: str
    other_policy: str | None = None
    token_budget: int | None = None
    hardware: str | None = None
    exclude_source_problem: bool = True


@dataclass(frozen=True, slots=True)
class Trial:
    """What came out."""

    answer: SearchAnswer
    contexts: Sequence[Context]
    """One or two, in the order of the policies asked for."""
    apart: Sequence[str]
    """Items that only one of two contexts shows."""
    difference: Sequence[str]
    """Lines that differ between two contexts, marked `-` and `+`."""


def tried(services: Services, wish: TrialWish) -> Trial:
    """Ranks for the task and renders a context for each policy asked for."""
    search = Wish(
        top_k=SHOWN,
        threshold=services.settings.threshold,
        reader=wish.reader,
        hardware=wish.hardware,
        exclude_source_problem=wish.exclude_source_problem,
    )
    answer = services.search.find(wish.task, search, wish.token_budget)
    policies = dict.fromkeys(name for name in (wish.policy, wish.other_policy) if name)
    contexts = [
        services.contexts.render(
            ContextWish(
                task=wish.task,
                reader=wish.reader,
                policy=policy,
                token_budget=wish.token_budget,
                hardware=wish.hardware,
                exclude_source_problem=wish.exclude_source_problem,
            )
        )
        for policy in policies
    ]
    services.recorder.flush()
    if len(contexts) < 2:
        return Trial(answer, contexts, (), ())
    return Trial(answer, contexts, list(items_apart(*contexts)), list(differing_lines(*contexts)))
