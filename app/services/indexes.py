"""The indexes over the items that a ranking may offer, and how they follow a change without being built anew."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from app.memory.ranking import CompiledItems, ItemFacts, compile_items
from app.memory.ranking.joining import joined
from app.records import Item
from app.retrieval.embedder import Vectors
from app.retrieval.lexical import LexicalIndex, term_counts
from app.retrieval.vectors import FaissIndex
from app.services.nearness import DatabaseVectors
from app.vocabulary import ItemKind

Mask = npt.NDArray[np.bool_]
Facts = Callable[[Item], ItemFacts]

FEWEST_CHANGES = 1000
LARGEST_SHARE = 0.5
"""Rows added after the last build, as a share of the rows built then, from which building anew is the better way."""

_KINDS = {kind: number for number, kind in enumerate(ItemKind)}


@dataclass(frozen=True, slots=True)
class Indexes:
    """Row r of every index is items[r]. A row that is not live belongs to an item that has gone or has a later row."""

    items: tuple[Item, ...]
    live: Mask
    kinds: npt.NDArray[np.int8]
    places: Mapping[str, int]
    """Item id -> its live row."""
    by_source: Mapping[str, tuple[int, ...]]
    """Source problem -> rows of items that were learned from it."""
    vectors: FaissIndex | None
    """None where the database looks the nearest vectors up."""
    outside: DatabaseVectors | None
    lexical: LexicalIndex
    compiled: CompiledItems
    built: int
    """Rows at the last build."""

    @classmethod
    def of(
        cls, items: Sequence[Item], vectors: Vectors | None, facts: Facts, outside: DatabaseVectors | None = None
    ) -> Self:
        """The indexes of items with their vectors, built at once; without vectors, they are looked up outside."""
        return cls(
            items=tuple(items),
            live=np.ones(len(items), dtype=bool),
            kinds=_kinds(items),
            places={item.id: row for row, item in enumerate(items)},
            by_source=_with_sources({}, items, 0),
            vectors=None if vectors is None else FaissIndex(vectors, vectors.shape[1]),
            outside=outside,
            lexical=LexicalIndex.of([term_counts(item.text) for item in items]),
            compiled=compile_items([facts(item) for item in items]),
            built=len(items),
        )

    def __len__(self) -> int:
        """Number of items that can be ranked."""
        return len(self.places)

    def of_kinds(self, kinds: Iterable[ItemKind]) -> Mask | None:
        """Live rows of these kinds, as an array of the caller's own; None where that is every row."""
        wanted = [_KINDS[kind] for kind in kinds]
        if len(wanted) == len(_KINDS):
            return None if len(self.places) == len(self.items) else self.live.copy()
        return self.live & np.isin(self.kinds, wanted)

    def similarities(self, query: Vectors, allowed: Mask | None) -> Vectors | None:
        """Cosines of the nearest allowed rows, 0 for all others; None where there is no vector to compare with."""
        if self.outside is not None:
            return self.outside.similarities(query, allowed, self.items, self.live, self.places)
        return None if self.vectors is None else self.vectors.similarities(query, allowed)

    def takes(self, changes: int) -> bool:
        """Whether so many changes may be appended; otherwise the indexes are built anew."""
        return len(self.items) + changes - self.built <= max(FEWEST_CHANGES, int(LARGEST_SHARE * self.built))

    def changed(self, added: Sequence[Item], gone: Iterable[str], vectors: Vectors | None, facts: Facts) -> Self:
        """The indexes without the items that are gone, and with new rows for the items that were added or changed."""
        rows = [self.places[item_id] for item_id in gone if item_id in self.places]
        rows += [self.places[item.id] for item in added if item.id in self.places]
        live = np.append(self.live, np.ones(len(added), dtype=bool))
        live[rows] = False
        places = {item_id: row for item_id, row in self.places.items() if live[row]} if rows else dict(self.places)
        places.update({item.id: row for row, item in enumerate(added, start=len(self.items))})
        return replace(
            self,
            items=(*self.items, *added),
            live=live,
            kinds=np.append(self.kinds, _kinds(added)),
            places=places,
            by_source=_with_sources(self.by_source, added, len(self.items)),
            vectors=self.vectors.with_rows(vectors) if self.vectors is not None and vectors is not None else None,
            lexical=self.lexical.changed(
                [term_counts(item.text) for item in added], {row: term_counts(self.items[row].text) for row in rows}
            ),
            compiled=joined(self.compiled, compile_items([facts(item) for item in added])),
        )

    def recounted(self, voted: Sequence[Item], facts: Facts) -> Self:
        """The indexes with other counters and claims of items whose text, vector and record stay as they are."""
        rows = [self.places[item.id] for item in voted]
        fresh = compile_items([facts(item) for item in voted])
        items = list(self.items)
        rate, established = self.compiled.rate.copy(), self.compiled.established.copy()
        rate[rows], established[rows] = fresh.rate, fresh.established
        for row, item in zip(rows, voted, strict=True):
            items[row] = item
        return replace(self, items=tuple(items), compiled=replace(self.compiled, rate=rate, established=established))


def _kinds(items: Sequence[Item]) -> npt.NDArray[np.int8]:
    return np.array([_KINDS[item.kind] for item in items], dtype=np.int8)


def _with_sources(
    known: Mapping[str, tuple[int, ...]], added: Sequence[Item], start: int
) -> dict[str, tuple[int, ...]]:
    grown = dict(known)
    fresh: dict[str, list[int]] = {}
    for row, item in enumerate(added, start=start):
        if item.source_problem is not None:
            fresh.setdefault(item.source_problem, []).append(row)
    return {**grown, **{problem: (*grown.get(problem, ()), *rows) for problem, rows in fresh.items()}}
