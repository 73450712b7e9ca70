"""Which kernels a night should judge on one kind of hardware, and why: pure rules over their runs there."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from app.records import Item, Run
from app.standing import grade
from app.vocabulary import OrderReason

_NEVER = datetime.min.replace(tzinfo=UTC)
_ORDER = list(OrderReason)


@dataclass(frozen=True, slots=True)
class Due:
    """A kernel that is due."""

    item_id: str
    reason: OrderReason


def due(
    kernels: Iterable[Item], histories: Mapping[str, Sequence[Run]], judged: Iterable[str], evaluator: str, limit: int
) -> list[Due]:
    """At most `limit` kernels, the most urgent reason first, among equals the one that waited longest.

    `histories` are the runs that tell of each kernel's present code on this hardware, oldest first; `judged` the
    kernels that were ever judged there, in whatever state of their code; `evaluator` the version that would judge now.
    """
    known = set(judged)
    ranked = []
    for kernel in kernels:
        history = histories.get(kernel.id, ())
        reason = _reason(kernel.id, history, known, evaluator)
        last = history[-1].finished_at if history else None
        ranked.append((_ORDER.index(reason), last or _NEVER, kernel.id, reason))
    return [Due(item_id, reason) for _, _, item_id, reason in sorted(ranked)[:limit]]


def _reason(item_id: str, history: Sequence[Run], judged: set[str], evaluator: str) -> OrderReason:
    if not history:
        return OrderReason.EDITED if item_id in judged else OrderReason.NEW
    if len(history) > 1 and grade(history[-1]) != grade(history[-2]):
        return OrderReason.FLAKY
    return OrderReason.EVALUATOR if history[-1].evaluator != evaluator else OrderReason.OLDEST
