"""A lexical index: BM25 over words, in memory, immutable, built from term counts that can be kept.

The formula is Lucene's: idf(t) * tf / (tf + k1 * (1 - b + b * length / average)) with k1 = 1.2 and b = 0.75. Every
document is scored, so that filters can act before any cut.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from app.retrieval.words import terms

K1 = 1.2
B = 0.75

Scores = npt.NDArray[np.float32]

TermCounts = Mapping[str, int]


def term_counts(text: str) -> TermCounts:
    """How often each term occurs in a text."""
    return Counter(terms(text))


class LexicalIndex:
    """BM25 over documents that are known by their row number."""

    def __init__(self, documents: Sequence[TermCounts]) -> None:
        lengths = np.array([sum(counts.values()) for counts in documents], dtype=np.float32)
        average = float(lengths.mean()) if len(lengths) and lengths.any() else 1.0
        self._size = len(documents)
        self._norms = K1 * (1 - B + B * lengths / average)
        self._postings = _postings(documents)

    def __len__(self) -> int:
        return self._size

    def scores(self, query: Iterable[str]) -> Scores:
        """BM25 of every document against the query's terms (repeated terms count once): float32, shape (rows,)."""
        total = np.zeros(self._size, dtype=np.float32)
        for term in dict.fromkeys(query):
            posting = self._postings.get(term)
            if posting is not None:
                rows, counts = posting
                total[rows] += self._idf(len(rows)) * counts / (counts + self._norms[rows])
        return total

    def ideal(self, query: Iterable[str]) -> float:
        """The score that no document can exceed: every known term at its full idf. Zero where no term is known."""
        known = (self._postings.get(term) for term in dict.fromkeys(query))
        return float(sum(self._idf(len(posting[0])) for posting in known if posting is not None))

    def _idf(self, documents: int) -> float:
        return float(np.log(1 + (self._size - documents + 0.5) / (documents + 0.5)))


def _postings(
    documents: Sequence[TermCounts],
) -> dict[str, tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]]:
    """Term -> (rows that hold it, how often), from one pass over all documents."""
    vocabulary: dict[str, int] = {}
    term_ids: list[int] = []
    counts: list[int] = []
    for document in documents:
        term_ids.extend(vocabulary.setdefault(term, len(vocabulary)) for term in document)
        counts.extend(document.values())
    sizes = [len(document) for document in documents]
    rows = np.repeat(np.arange(len(documents), dtype=np.int32), sizes)
    ids = np.array(term_ids, dtype=np.int32)
    order = np.argsort(ids, kind="stable")
    ends = np.cumsum(np.bincount(ids, minlength=len(vocabulary))) if len(ids) else np.empty(0, dtype=np.int64)
    by_term_rows, by_term_counts = rows[order], np.array(counts, dtype=np.float32)[order]
    starts = [0, *ends[:-1].tolist()]
    return {
        term: (by_term_rows[starts[i] : ends[i]], by_term_counts[starts[i] : ends[i]]) for term, i in vocabulary.items()
    }
