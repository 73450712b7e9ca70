"""Numbers for the words of records, so that lists of words become rows of an array."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from app.memory.ranking.similarity import Table

Indices = NDArray[np.intp]


class Numbering:
    """Numbers for families, terms, regimes and what may be excluded; the number after the last one pads short rows."""

    def __init__(self, table: Table) -> None:
        """Number the words of the table's vocabulary."""
        lexicon = table.lexicon
        self.table = table
        self.terms: Mapping[str, int] = table.number
        self.families = {name: i for i, name in enumerate(lexicon.families)}
        self.regimes = {name: i for i, name in enumerate(lexicon.regimes)}
        self.excludable = {**self.terms, **{name: len(self.terms) + i for name, i in self.regimes.items()}}


def rows(lists: Iterable[Sequence[str]], numbers: Mapping[str, int], width: int) -> Indices:
    """Return (width, n) numbers of names, unknown names left out, padded with ``len(numbers)``.

    Columns are lists: reductions over the first axis are what numpy does fast.
    """
    pad = len(numbers)
    found = []
    for names in lists:
        row = [numbers[name] for name in names if name in numbers][:width]
        found.append(row + [pad] * (width - len(row)))
    return np.ascontiguousarray(np.array(found, dtype=np.intp).reshape(-1, width).T)


def counts(numbered: Indices, numbers: Mapping[str, int]) -> NDArray[np.float64]:
    """Return how many entries of each list are no padding."""
    found: NDArray[np.float64] = (numbered != len(numbers)).sum(axis=0).astype(np.float64)
    return found
