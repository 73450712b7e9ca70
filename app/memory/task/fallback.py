"""Matches unexplained phrases of a task to sentences about operations with a sentence model.

The model is a callable that the caller passes in; nothing here knows which one. Its vectors for the vocabulary's
sentences are computed once per callable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from app.memory.lexicon import Lexicon
from app.memory.lexicon.loader import DIMENSIONED
from app.memory.task.profile import OperationUse
from app.memory.task.prose import ProseReading

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]

THRESHOLD = 0.55  # cosine below which a phrase says nothing about an operation
MARGIN = 0.04  # by which the best operation must beat the best of another kind
MAX_PHRASES = 8

_known: WeakKeyDictionary[Embed, Vectors] = WeakKeyDictionary()


def prepare(embed: Embed, lexicon: Lexicon) -> Vectors:
    """Return the unit vectors of all phrasings, float32 (phrasings, d), computing them on first use of a callable."""
    try:
        cached = _known.get(embed)
    except TypeError:  # the callable takes no weak reference
        return embed([sentence for _, sentence in lexicon.phrasings])
    if cached is None:
        cached = np.asarray(embed([sentence for _, sentence in lexicon.phrasings]), dtype=np.float32)
        _known[embed] = cached
    return cached


def guess_operations(
    words: ProseReading, found: Sequence[str], embed: Embed, lexicon: Lexicon
) -> list[tuple[int, OperationUse]]:
    """Return (place, operation) for unexplained phrases that one operation fits clearly better than the others."""
    phrases = list(words.unexplained)[:MAX_PHRASES]
    if not phrases:
        return []
    table = prepare(embed, lexicon)
    vectors = np.asarray(embed([text for _, text in phrases]), dtype=np.float32)
    similarities = vectors @ table.T
    return list(_clear_winners(phrases, similarities, set(found), lexicon))


def _clear_winners(
    phrases: Sequence[tuple[int, str]], similarities: Vectors, found: set[str], lexicon: Lexicon
) -> Iterator[tuple[int, OperationUse]]:
    names = [name for name, _ in lexicon.phrasings]
    for (place, text), row in zip(phrases, similarities, strict=True):
        order = np.argsort(-row, kind="stable")
        best = names[int(order[0])]
        kind = lexicon.kind(best.replace(DIMENSIONED, "2d"))
        other = next(
            (float(row[i]) for i in order if lexicon.kind(names[int(i)].replace(DIMENSIONED, "2d")) != kind), 0.0
        )
        score = float(row[order[0]])
        if score < THRESHOLD or score - other < MARGIN or best in found:
            continue
        found.add(best)
        name = best.replace(DIMENSIONED, "2d")
        yield place, OperationUse(name, round(min(0.7, score), 3), "embedding", text)
