"""Items compiled into arrays, so that one query scores all of them without a loop over items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.memory.applies_when import AppliesWhen
from app.memory.ranking import counters
from app.memory.ranking.similarity import Table, similarity_table

MAX_FAMILIES = 5
MAX_REQUIRED = 4
MAX_EXCLUDES = 6
MAX_STRONG = 6
MAX_REGIMES = 12
MAX_KEYS = 3
STRONG_KINDS = frozenset(
    {"normalisation", "pooling", "reduction", "softmax", "special_matrix", "scan", "loss", "recurrence"}
)

Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """One item as ranking needs it. `verification` in [0, 1] is 1 unless its latest run on the asker's hardware failed or lost."""

    id: str
    record: AppliesWhen
    helpful: int = 0
    harmful: int = 0
    verification: float = 1.0


@dataclass(frozen=True, slots=True)
class CompiledItems:
    """Arrays over N items. Index arrays are padded with the last number of their table, which always scores neutrally.

    `covers` is (terms, N) uint8: how far an item's own operations stand for each vocabulary term, in 1/255.
    """

    ids: tuple[str, ...]
    generic: NDArray[np.bool_]
    families: Indices
    required: Indices
    excludes: Indices
    strong: Indices
    strong_count: NDArray[np.float32]
    regimes: Indices
    regime_count: NDArray[np.float32]
    keys: Indices
    key_count: NDArray[np.float32]
    optional: Indices
    optional_count: NDArray[np.float32]
    gemm_only: NDArray[np.bool_]
    covers: NDArray[np.uint8]
    rate: NDArray[np.float64]
    established: NDArray[np.float64]
    verification: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of items N."""
        return len(self.ids)


class Numbering:
    """Numbers for families, terms and regimes; the number after the last one pads short rows."""

    def __init__(self, table: Table) -> None:
        lexicon = table.lexicon
        self.table = table
        self.families = {name: i for i, name in enumerate(lexicon.families)}
        self.regimes = {name: i for i, name in enumerate(lexicon.regimes)}
        self.terms = table.number

    def rows(self, lists: Iterable[Sequence[str]], numbers: Mapping[str, int], width: int) -> Indices:
        """Return (N, width) numbers of names, unknown names left out, padded with ``len(numbers)``."""
        found = [[numbers[name] for name in names if name in numbers][:width] for names in lists]
        pad = len(numbers)
        return np.array([row + [pad] * (width - len(row)) for row in found], dtype=np.intp).reshape(-1, width)


def compile_items(items: Sequence[ItemFacts]) -> CompiledItems:
    """Compile items into arrays. Linear in the number of items; equal records are compiled once."""
    table = similarity_table()
    numbering = Numbering(table)
    distinct = {facts.record: None for facts in items}
    place = {record: index for index, record in enumerate(distinct)}
    rows = np.array([place[facts.record] for facts in items], dtype=np.intp)
    records = list(distinct)
    helpful = np.array([facts.helpful for facts in items], dtype=np.float64)
    harmful = np.array([facts.harmful for facts in items], dtype=np.float64)
    strong = numbering.rows([_strong(r, table) for r in records], numbering.terms, MAX_STRONG)
    regimes = numbering.rows([r.regimes for r in records], numbering.regimes, MAX_REGIMES)
    keys = numbering.rows([r.key_regimes for r in records], numbering.regimes, MAX_KEYS)
    optional = numbering.rows([(*r.required, *r.anchor, *r.optional) for r in records], numbering.terms, 4)
    excludes = {**numbering.terms, **{name: len(numbering.terms) + i for name, i in numbering.regimes.items()}}
    return CompiledItems(
        ids=tuple(facts.id for facts in items),
        generic=np.array([facts.record.generic for facts in items], dtype=bool),
        families=numbering.rows([r.families for r in records], numbering.families, MAX_FAMILIES)[rows],
        required=numbering.rows([r.required for r in records], numbering.terms, MAX_REQUIRED)[rows],
        excludes=numbering.rows([r.excludes for r in records], excludes, MAX_EXCLUDES)[rows],
        strong=strong[rows],
        strong_count=_count(strong, len(numbering.terms))[rows],
        regimes=regimes[rows],
        regime_count=_count(regimes, len(numbering.regimes))[rows],
        keys=keys[rows],
        key_count=_count(keys, len(numbering.regimes))[rows],
        optional=optional[rows],
        optional_count=_count(optional, len(numbering.terms))[rows],
        gemm_only=np.array([_about_the_product(r, table) for r in records], dtype=bool)[rows],
        covers=np.ascontiguousarray(np.stack([_covers(r, table) for r in records], axis=1)[:, rows])
        if records
        else np.zeros((len(table.names), 0), dtype=np.uint8),
        rate=counters.smoothed_rate(helpful, harmful),
        established=counters.establishment(helpful, harmful),
        verification=np.array([facts.verification for facts in items], dtype=np.float64),
    )


def _count(rows: Indices, pad: int) -> NDArray[np.float32]:
    return (rows != pad).sum(axis=1).astype(np.float32)


def _strong(record: AppliesWhen, table: Table) -> list[str]:
    """Operations of the chain that set an item apart: it is no advice for a task without them."""
    return list(dict.fromkeys(op for op in record.chain if table.lexicon.kind(op) in STRONG_KINDS))


def _about_the_product(record: AppliesWhen, table: Table) -> bool:
    gemm = any(table.lexicon.kind(op) == "gemm" for op in (*record.anchor, *record.required))
    return gemm and not _strong(record, table) and "linear_reduction" not in record.regimes


def _covers(record: AppliesWhen, table: Table) -> NDArray[np.uint8]:
    best = np.zeros(len(table.names), dtype=np.float32)
    for terms, weight in (((*record.chain, *record.anchor, *record.required), 1.0), (record.optional, 0.7)):
        for term in terms:
            if term in table.number:
                np.maximum(best, table.similar[table.number[term]] * np.float32(weight), out=best)
    return np.round(best * 255).astype(np.uint8)
