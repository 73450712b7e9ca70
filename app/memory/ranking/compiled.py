"""Items compiled into arrays, so that one query scores all of them without a loop over items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.memory.applies_when import AppliesWhen
from app.memory.ranking import counters
from app.memory.ranking.conditions import MAX_REGIMES, Conditions, compile_conditions, condition_key, strong_operations
from app.memory.ranking.numbering import Indices, Numbering, counts, rows
from app.memory.ranking.similarity import Table, similarity_table

MAX_STRONG = 6
OPTIONAL_WEIGHT = 0.7
_CHUNK = 2048
_CHAIN_WIDTH = 16
_OPTIONAL_WIDTH = 16


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """One item as ranking needs it. `verification` in [0, 1] is 1 unless its latest run on the asker's hardware
    failed or lost.
    """

    id: str
    record: AppliesWhen
    helpful: int = 0
    harmful: int = 0
    verification: float = 1.0


@dataclass(frozen=True, slots=True)
class CompiledItems:
    """Arrays over N items, and over the distinct sets of conditions they share.

    `condition` (N,) numbers an item's set; `by_condition` (N,) lists the items set by set, set u at
    ``by_condition[starts[u]:starts[u + 1]]``. `reader` is 1 unless the asking reader voted against an item.
    `covers` is (terms, N) uint8: how far an item's own operations stand
    for each vocabulary term, in 1/255. `strong` and `regimes` are (N, width) padded numbers: what is read of one item
    lies together in memory, which at 100,000 items is what counts.
    """

    ids: tuple[str, ...]
    conditions: Conditions
    condition: Indices
    by_condition: Indices
    starts: Indices
    strong: NDArray[np.int16]
    strong_count: NDArray[np.float64]
    regimes: NDArray[np.int16]
    covers: NDArray[np.uint8]
    rate: NDArray[np.float64]
    established: NDArray[np.float64]
    verification: NDArray[np.float64]
    reader: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of items N."""
        return len(self.ids)

    def verified(self, rows: Indices, standings: NDArray[np.float64]) -> CompiledItems:
        """Return the items with what was measured of some of them on the asker's hardware."""
        verification = self.verification.copy()
        verification[rows] = standings
        return replace(self, verification=verification)

    def read_by(self, rows: Indices, helpful: NDArray[np.float64], harmful: NDArray[np.float64]) -> CompiledItems:
        """Return the items as a reader knows them that voted on some: what helped it counts for more in `rate`, what
        did it harm is discounted in `reader`.
        """
        known = self.rate[rows]
        own = counters.rate_of_reader(helpful, harmful, known)
        rate, reader = self.rate.copy(), self.reader.copy()
        rate[rows], reader[rows] = np.maximum(own, known), counters.dissent(own, known)
        return replace(self, rate=rate, reader=reader)


def compile_items(items: Sequence[ItemFacts]) -> CompiledItems:
    """Compile items into arrays. Linear in the number of items; equal records are compiled once."""
    table = similarity_table()
    numbering = Numbering(table)
    place: dict[AppliesWhen, int] = {}
    record_of = np.array([place.setdefault(facts.record, len(place)) for facts in items], dtype=np.intp)
    records = list(place)
    sets: dict[tuple[object, ...], int] = {}
    set_of = np.array([sets.setdefault(condition_key(r, table), len(sets)) for r in records], dtype=np.intp)
    first = {number: record for record, number in zip(reversed(records), reversed(set_of.tolist()), strict=True)}
    condition = set_of[record_of] if records else np.zeros(0, dtype=np.intp)
    strong = rows([strong_operations(r, table) for r in records], numbering.terms, MAX_STRONG)
    helpful = np.array([facts.helpful for facts in items], dtype=np.float64)
    harmful = np.array([facts.harmful for facts in items], dtype=np.float64)
    return CompiledItems(
        ids=tuple(facts.id for facts in items),
        conditions=compile_conditions([first[number] for number in range(len(sets))], numbering),
        condition=condition,
        by_condition=np.argsort(condition, kind="stable"),
        starts=np.concatenate([[0], np.cumsum(np.bincount(condition, minlength=len(sets)))]).astype(np.intp),
        strong=_by_item(strong, record_of),
        strong_count=counts(strong, numbering.terms)[record_of],
        regimes=_by_item(rows([r.regimes for r in records], numbering.regimes, MAX_REGIMES), record_of),
        covers=np.ascontiguousarray(_covers(records, numbering, table)[:, record_of]),
        rate=counters.smoothed_rate(helpful, harmful),
        established=counters.establishment(helpful, harmful),
        verification=np.array([facts.verification for facts in items], dtype=np.float64),
        reader=np.ones(len(items), dtype=np.float64),
    )


def _by_item(numbered: Indices, record_of: Indices) -> NDArray[np.int16]:
    """Return (width, records) numbers as (N, width), item by item."""
    return np.ascontiguousarray(numbered.T.astype(np.int16)[record_of])


def _covers(records: Sequence[AppliesWhen], numbering: Numbering, table: Table) -> NDArray[np.uint8]:
    """Return (terms, records) in 1/255: the nearest of a record's operations to each term, optional ones discounted."""
    padded = np.vstack([table.similar, np.zeros((1, len(table.names)), dtype=np.float32)])
    own = rows([(*r.chain, *r.anchor, *r.required) for r in records], numbering.terms, _CHAIN_WIDTH)
    optional = rows([r.optional for r in records], numbering.terms, _OPTIONAL_WIDTH)
    found = np.zeros((len(records), len(table.names)), dtype=np.uint8)
    for start in range(0, len(records), _CHUNK):
        best = np.zeros((min(_CHUNK, len(records) - start), len(table.names)), dtype=np.float32)
        for column in range(_CHAIN_WIDTH):
            np.maximum(best, padded[own[column, start : start + _CHUNK]], out=best)
        for column in range(_OPTIONAL_WIDTH):
            np.maximum(best, padded[optional[column, start : start + _CHUNK]] * np.float32(OPTIONAL_WEIGHT), out=best)
        found[start : start + _CHUNK] = np.round(best * 255)
    return found.T
