"""How two contexts for the same task differ, for a person to read."""

import difflib
from collections.abc import Iterator

from app.services.context import Context


def compared(left: Context, right: Context) -> str:
    """Sizes, items that only one of them shows, and the lines that differ (`-` left only, `+` right only)."""
    return "\n".join([*_sizes(left, right), *items_apart(left, right), "", *differing_lines(left, right)])


def _sizes(left: Context, right: Context) -> Iterator[str]:
    for context in (left, right):
        yield f"{context.policy}: {context.tokens} tokens, {len(context.item_ids)} items"


def items_apart(left: Context, right: Context) -> Iterator[str]:
    """Items that only one of the contexts shows, and why the other one leaves them out."""
    for here, there in ((left, right), (right, left)):
        only = [item_id for item_id in here.item_ids if item_id not in there.item_ids]
        if only:
            yield f"only in {here.policy}: {', '.join(only)}"
    reasons = {entry.item_id: entry.detail for entry in right.left_out}
    for item_id in left.item_ids:
        if item_id in reasons and item_id not in right.item_ids:
            yield f"{right.policy} leaves out {item_id}: {reasons[item_id]}"


def differing_lines(left: Context, right: Context) -> Iterator[str]:
    """The lines that differ, with one line around them: `-` left only, `+` right only."""
    difference = difflib.unified_diff(
        left.text.split("\n"), right.text.split("\n"), left.policy, right.policy, lineterm="", n=1
    )
    yield from difference
