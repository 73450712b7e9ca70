"""How two contexts for the same task differ, for a person to read."""

import difflib
from collections.abc import Iterator

from app.services.context import Context


def compared(left: Context, right: Context) -> str:
    """Sizes, items that only one of them shows, and the lines that differ (`-` left only, `+` right only)."""
    return "\n".join([*_sizes(left, right), *_items(left, right), "", *_lines(left, right)])


def _sizes(left: Context, right: Context) -> Iterator[str]:
    for context in (left, right):
        yield f"{context.policy}: {context.tokens} tokens, {len(context.item_ids)} items"


def _items(left: Context, right: Context) -> Iterator[str]:
    for here, there in ((left, right), (right, left)):
        only = [item_id for item_id in here.item_ids if item_id not in there.item_ids]
        if only:
            yield f"only in {here.policy}: {', '.join(only)}"
    reasons = {entry.item_id: entry.detail for entry in right.left_out}
    for item_id in left.item_ids:
        if item_id in reasons and item_id not in right.item_ids:
            yield f"{right.policy} leaves out {item_id}: {reasons[item_id]}"


def _lines(left: Context, right: Context) -> Iterator[str]:
    difference = difflib.unified_diff(
        left.text.split("\n"), right.text.split("\n"), left.policy, right.policy, lineterm="", n=1
    )
    yield from difference
