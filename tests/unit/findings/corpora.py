"""Small corpora for the rules."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from app.memory.findings import Finding, find
from app.memory.kernels import kernel_code
from app.records import Corpus, Item, Measurement, Problem
from app.vocabulary import FindingKind, ItemKind

PROBLEMS = {
    "P_one": Problem("P_one", "made-up", 1, 1, "one", "conv"),
    "P_two": Problem("P_two", "made-up", 1, 2, "two", "matmul"),
    "P_three": Problem("P_three", "made-up", 1, 3, "three", "norm"),
    "P_four": Problem("P_four", "made-up", 1, 4, "four", "rnn"),
}


def item(item_id: str, text: str, **fields: Any) -> Item:
    kinds = {kind.id_prefix: kind for kind in ItemKind}
    kind = kinds[item_id[:3]]
    return Item(item_id, kind, "section", 0, text, **fields)


def kernel(item_id: str, source: str, **fields: Any) -> Item:
    return item(item_id, "Kernel for something", kernel=kernel_code(source), **fields)


def corpus(*items: Item, measurements: Mapping[str, Mapping[str, Measurement]] | None = None) -> Corpus:
    return Corpus(1, {each.id: each for each in items}, PROBLEMS, {}, [], {}, {}, measurements or {})


def found(kind: FindingKind, *items: Item) -> list[Finding]:
    return [finding for finding in find(corpus(*items)) if finding.kind is kind]


def ids(kind: FindingKind, *items: Item) -> list[tuple[str, ...]]:
    return [finding.item_ids for finding in found(kind, *items)]


def measured(speedup: str | None, verdict: str = "correct") -> Measurement:
    return Measurement("some GPU", verdict, Decimal(speedup) if speedup else None)
