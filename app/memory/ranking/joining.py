"""Appends compiled items to others without compiling all of them again."""

from dataclasses import fields
from typing import Any

import numpy as np

from app.memory.ranking.compiled import CompiledItems
from app.memory.ranking.conditions import Conditions

_OVER_SETS = frozenset({"conditions", "condition", "by_condition", "starts"})
"""Fields of compiled items that number sets of conditions; all others have one entry per item along an axis."""

_BY_ITEM = frozenset({"strong", "regimes"})
"""Fields whose first axis is that of the items; of the others it is the last one."""


def joined(first: CompiledItems, second: CompiledItems) -> CompiledItems:
    """The items of `first`, then those of `second`. Sets that both hold stay apart: that costs a little, not truth."""
    sets = len(first.starts) - 1
    condition = np.concatenate([first.condition, second.condition + sets])
    sizes = np.bincount(condition, minlength=sets + len(second.starts) - 1)
    values: dict[str, Any] = {
        field.name: _appended(
            getattr(first, field.name), getattr(second, field.name), 0 if field.name in _BY_ITEM else -1
        )
        for field in fields(CompiledItems)
        if field.name not in _OVER_SETS
    }
    return CompiledItems(
        conditions=Conditions(
            **{
                field.name: _appended(getattr(first.conditions, field.name), getattr(second.conditions, field.name))
                for field in fields(Conditions)
            }
        ),
        condition=condition,
        by_condition=np.argsort(condition, kind="stable"),
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp),
        **values,
    )


def _appended(left: Any, right: Any, axis: int = -1) -> Any:
    if isinstance(left, tuple):
        return (*left, *right)
    return np.concatenate([left, right], axis=axis)
