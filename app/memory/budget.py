"""Token budgets: how long a text is for the model that reads it, and which whole items fit."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from app.errors import BudgetTooSmall
from app.memory.selection import LeftOut, Selection
from app.vocabulary import LeftOutReason

CHARACTERS_PER_TOKEN = 4
"""English prose and code average about four characters a token over today's tokenizers."""

DROPPING_ORDER = ("kernels", "recipes", "pitfalls", "lessons")
"""A kernel memory over its budget loses whole items from the end of these sections, in this order."""


def count_tokens(text: str) -> int:
    """Estimated tokens of a text: its characters by four, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def cut_to_budget(
    selection: Selection, token_budget: int | None, render: Callable[[Selection], str]
) -> tuple[str, Selection]:
    """The rendered text and what it shows, less whole items until it fits; BudgetTooSmall if the head does not."""
    text = render(selection)
    while token_budget is not None and count_tokens(text) > token_budget:
        section = next((name for name in DROPPING_ORDER if getattr(selection, name)), None)
        if section is None:
            raise _too_small(count_tokens(text))
        *kept, dropped = getattr(selection, section)
        left_out = (*selection.left_out, _over(dropped.item.id, token_budget))
        selection = replace(selection, **{section: tuple(kept)}, left_out=left_out)
        text = render(selection)
    return text, selection


def best_within_budget(
    head: str, entries: Iterable[tuple[str, str]], token_budget: int | None, separator: str
) -> tuple[set[str], list[LeftOut]]:
    """Ids of the best-ranked entries (id, text) that fit beside the head; one that does not fit is passed over."""
    if token_budget is None:
        return {item_id for item_id, _ in entries}, []
    room = token_budget * CHARACTERS_PER_TOKEN - len(head)
    if room < 0:
        raise _too_small(count_tokens(head))
    kept: set[str] = set()
    left_out: list[LeftOut] = []
    for item_id, text in entries:
        needed = len(text) + len(separator)
        if needed <= room:
            kept.add(item_id)
            room -= needed
        else:
            left_out.append(_over(item_id, token_budget))
    return kept, left_out


def _over(item_id: str, token_budget: int) -> LeftOut:
    return LeftOut(item_id, LeftOutReason.BUDGET, f"over the budget of {token_budget} tokens")


def _too_small(needed: int) -> BudgetTooSmall:
    return BudgetTooSmall(
        f"The head alone takes {needed} tokens. Ask for at least that many, or for the policy 'none'.", needed=needed
    )
