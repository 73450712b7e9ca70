"""Statistics of words by which a synthetic corpus is compared with the real one."""

import math
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

_WORD = re.compile(r"[a-z0-9_]+")


def words(text: str) -> list[str]:
    """The words of a text in lower case; numbers and names of code count as words."""
    return _WORD.findall(text.lower())


@dataclass(frozen=True, slots=True)
class Growth:
    """Heaps' law: after n words a text holds `factor * n ** exponent` different ones."""

    factor: float
    exponent: float

    def vocabulary(self, tokens: int) -> float:
        """Expected number of different words among so many."""
        return float(self.factor * tokens**self.exponent)


def growth(texts: Sequence[str]) -> Growth:
    """Heaps' law fitted by least squares to the second half of the texts in their order (logarithms of both sides)."""
    seen: set[str] = set()
    tokens, points = 0, []
    for number, text in enumerate(texts):
        found = words(text)
        tokens += len(found)
        seen.update(found)
        if tokens and number >= len(texts) // 2:
            points.append((math.log(tokens), math.log(len(seen))))
    if len({x for x, _ in points}) < 2:
        return Growth(float(len(seen)), 0.0)
    exponent, intercept = np.polyfit([x for x, _ in points], [y for _, y in points], 1)
    return Growth(float(np.exp(intercept)), float(exponent))


def zipf_slope(texts: Sequence[str]) -> float:
    """Slope of log frequency over log rank for ranks 10 to 1000; about -1 in natural language."""
    counts = Counter(word for text in texts for word in words(text))
    frequencies = np.array(sorted(counts.values(), reverse=True)[9:1000], dtype=np.float64)
    if len(frequencies) < 2:
        return 0.0
    ranks = np.arange(10, 10 + len(frequencies))
    return float(np.polyfit(np.log(ranks), np.log(frequencies), 1)[0])


@dataclass(frozen=True, slots=True)
class WordStatistics:
    """What is compared."""

    items: int
    words_mean: float
    words_median: float
    distinct_words_mean: float
    """Different words in one item, on average."""
    vocabulary: int
    zipf_slope: float
    heaps_exponent: float
    once_share: float
    """Share of the vocabulary that occurs once."""


def statistics(texts: Sequence[str]) -> dict[str, float]:
    """The statistics of a corpus, ready for JSON."""
    split = [words(text) for text in texts]
    lengths = [len(found) for found in split]
    counts = Counter(word for found in split for word in found)
    measured = WordStatistics(
        items=len(texts),
        words_mean=float(np.mean(lengths)),
        words_median=float(np.median(lengths)),
        distinct_words_mean=float(np.mean([len(set(found)) for found in split])),
        vocabulary=len(counts),
        zipf_slope=zipf_slope(texts),
        heaps_exponent=growth(random.Random(0).sample(texts, len(texts))).exponent,
        once_share=sum(count == 1 for count in counts.values()) / max(len(counts), 1),
    )
    return {name: round(value, 4) for name, value in asdict(measured).items()}
