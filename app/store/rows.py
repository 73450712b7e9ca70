"""Between rows and records, in both directions."""

from typing import Any

from app.models import ItemRow, KernelRow
from app.records import Item, KernelCode
from app.vocabulary import ItemKind, ItemStatus, KernelLanguage

_SHARED = (
    "id",
    "section",
    "position",
    "text",
    "helpful",
    "harmful",
    "text_without_figures",
    "correctness",
    "prohibition",
    "damage",
    "family",
    "source_problem",
    "claimed_speedup",
    "claim_rank",
    "writer",
    "applies_when",
    "demotions",
    "provenance",
    "content_hash",
    "version",
    "created_at",
    "updated_at",
)


def item_of(row: ItemRow, kernel: KernelRow | None) -> Item:
    """The record of a row."""
    values: dict[str, Any] = {name: getattr(row, name) for name in _SHARED}
    code = None
    if kernel is not None:
        code = KernelCode(kernel.source, KernelLanguage(kernel.language), kernel.entry_point, kernel.content_hash)
    return Item(kind=ItemKind(row.kind), status=ItemStatus(row.status), kernel=code, **values)


def values_of(item: Item) -> dict[str, Any]:
    """Column values of a record."""
    values = {name: getattr(item, name) for name in _SHARED}
    return {
        **values,
        "kind": item.kind.value,
        "status": item.status.value,
        "applies_when": None if item.applies_when is None else dict(item.applies_when),
        "demotions": dict(item.demotions) if item.demotions else None,
        "provenance": dict(item.provenance),
    }


def kernel_row(item: Item) -> KernelRow | None:
    """The kernel row of an item that has code."""
    if item.kernel is None:
        return None
    code = item.kernel
    return KernelRow(
        item_id=item.id,
        language=code.language.value,
        source=code.source,
        content_hash=code.content_hash,
        entry_point=code.entry_point,
    )
