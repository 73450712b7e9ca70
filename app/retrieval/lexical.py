"""A lexical index: BM25 over words, in memory, immutable, built from term counts.

The formula is Lucene's: idf(t) * tf / (tf + k1 * (1 - b + b * length / average)) with k1 = 1.2 and b = 0.75. Every
document is scored, so that filters can act before any cut.

An index with documents added or taken out shares the postings of the one that it came from; the newer documents have
postings of their own. Both give the scores, to the bit, that an index built at once from the same documents gives.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from app.retrieval.words import terms

K1 = 1.2
B = 0.75

COMMON = 8
"""A term that at least one in so many documents holds is kept as a column: adding columns beats looking rows up."""

MANY = 4096
"""Documents from which columns pay."""

MOST = 65535
"""Occurrences in one document beyond which they are no longer counted."""

Scores = npt.NDArray[np.float32]
Counts = npt.NDArray[np.uint16]
Rows = npt.NDArray[np.int32]

TermCounts = Mapping[str, int]


def term_counts(text: str) -> TermCounts:
    """How often each term occurs in a text."""
    return Counter(terms(text))


@dataclass(frozen=True, slots=True)
class Postings:
    """Where each term of documents 0 to size - 1 occurs: term t in rows[starts[t]:starts[t + 1]], so often."""

    size: int
    places: Mapping[str, int]
    starts: npt.NDArray[np.int64]
    rows: Rows
    counts: Counts
    columns: Mapping[int, Counts]
    """Counts of common terms in every document."""

    def of(self, term: str) -> tuple[Rows | None, Counts] | None:
        """Rows and counts of a term, without rows where the counts are those of every document; None if unknown."""
        place = self.places.get(term)
        if place is None:
            return None
        if place in self.columns:
            return None, self.columns[place]
        part = slice(int(self.starts[place]), int(self.starts[place + 1]))
        return self.rows[part], self.counts[part]

    def documents(self, term: str) -> int:
        """Number of documents that hold the term."""
        place = self.places.get(term)
        return 0 if place is None else int(self.starts[place + 1] - self.starts[place])


@dataclass(frozen=True, slots=True)
class LexicalIndex:
    """BM25 over documents that are known by their row number. A document taken out keeps its row and scores nothing."""

    lengths: npt.NDArray[np.float32]
    """Terms of each document; 0 for one that was taken out."""
    base: Postings
    newer: Mapping[str, tuple[Rows, Counts]]
    """Postings of the documents after those of the base."""
    gone: Rows
    gone_terms: Mapping[str, int]
    """Term -> how many of the documents that were taken out hold it."""

    @classmethod
    def of(cls, documents: Sequence[TermCounts]) -> Self:
        """The index of documents in their order."""
        lengths = np.array([sum(counts.values()) for counts in documents], dtype=np.float32)
        return cls(lengths, _postings(documents), {}, np.empty(0, dtype=np.int32), {})

    def __len__(self) -> int:
        return len(self.lengths)

    def changed(self, added: Sequence[TermCounts], gone: Mapping[int, TermCounts]) -> Self:
        """The index with documents added at its end and others, by row, taken out."""
        lengths = np.append(self.lengths, np.array([sum(d.values()) for d in added], dtype=np.float32))
        lengths[list(gone)] = 0.0
        occurrences: dict[str, list[tuple[int, int]]] = {}
        for row, document in enumerate(added, start=len(self)):
            for term, count in document.items():
                occurrences.setdefault(term, []).append((row, min(count, MOST)))
        newer = dict(self.newer)
        for term, found in occurrences.items():
            rows, counts = newer.get(term, _NOWHERE)
            fresh = np.array(found, dtype=np.int32)
            newer[term] = (np.append(rows, fresh[:, 0]), np.append(counts, fresh[:, 1].astype(np.uint16)))
        gone_terms = Counter(self.gone_terms)
        for document in gone.values():
            gone_terms.update(document.keys())
        rows_gone = np.append(self.gone, np.array(list(gone), dtype=np.int32))
        return replace(self, lengths=lengths, newer=newer, gone=rows_gone, gone_terms=gone_terms)

    def scores(self, query: Iterable[str]) -> Scores:
        """BM25 of every document against the query's terms (repeated terms count once): float32, shape (rows,)."""
        total = np.zeros(len(self), dtype=np.float32)
        old, norms = total[: self.base.size], self._norms()
        for term in dict.fromkeys(query):
            idf = np.float32(self._idf(term))
            found = self.base.of(term)
            if found is not None and found[0] is None:
                counts = found[1].astype(np.float32)
                old += idf * counts / (counts + norms[: self.base.size])
            elif found is not None:
                total[found[0]] += idf * found[1] / (found[1] + norms[found[0]])
            if term in self.newer:
                rows, few = self.newer[term]
                total[rows] += idf * few / (few + norms[rows])
        total[self.gone] = 0.0
        return total

    def ideal(self, query: Iterable[str]) -> float:
        """The score that no document can exceed: every known term at its full idf. Zero where no term is known."""
        return float(sum(self._idf(term) for term in dict.fromkeys(query) if self._documents(term)))

    def _norms(self) -> npt.NDArray[np.float32]:
        live = len(self) - len(self.gone)
        average = float(self.lengths.sum(dtype=np.float64)) / live if live else 0.0
        norms: npt.NDArray[np.float32] = K1 * (1 - B + B * self.lengths / np.float32(average or 1.0))
        return norms

    def _documents(self, term: str) -> int:
        newer = len(self.newer[term][0]) if term in self.newer else 0
        return self.base.documents(term) + newer - self.gone_terms.get(term, 0)

    def _idf(self, term: str) -> float:
        live, documents = len(self) - len(self.gone), self._documents(term)
        return float(np.log(1 + (live - documents + 0.5) / (documents + 0.5)))


_NOWHERE: tuple[Rows, Counts] = (np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint16))


def _postings(documents: Sequence[TermCounts]) -> Postings:
    """The postings of all terms, from one pass over all documents."""
    places: dict[str, int] = {}
    term_ids: list[int] = []
    counts: list[int] = []
    for document in documents:
        term_ids.extend([places.setdefault(term, len(places)) for term in document])
        counts.extend(document.values())
    rows = np.repeat(np.arange(len(documents), dtype=np.int32), [len(document) for document in documents])
    ids = np.array(term_ids, dtype=np.int32)
    order = np.argsort(ids, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(ids, minlength=len(places)))]).astype(np.int64)
    by_term = np.minimum(np.array(counts, dtype=np.int64), MOST).astype(np.uint16)[order]
    return postings_of(len(documents), places, starts, rows[order], by_term)


def postings_of(
    size: int, places: Mapping[str, int], starts: npt.NDArray[np.int64], rows: Rows, counts: Counts
) -> Postings:
    """Postings from their arrays, with columns of common terms where they pay."""
    found = Postings(size, places, starts, rows, counts, {})
    return replace(found, columns=_columns(found)) if size >= MANY else found


def _columns(postings: Postings) -> dict[int, Counts]:
    columns = {}
    for place in np.flatnonzero(np.diff(postings.starts) * COMMON >= postings.size).tolist():
        part = slice(int(postings.starts[place]), int(postings.starts[place + 1]))
        column = np.zeros(postings.size, dtype=np.uint16)
        column[postings.rows[part]] = postings.counts[part]
        columns[place] = column
    return columns
