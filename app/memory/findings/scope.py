"""Items that are too long, or about too much at once.

Bloated: four items above `MOST_TOKENS` fill a context of 5,000 tokens, where a dozen ordinary ones would fit. An item
must also be `TIMES_THE_MEDIAN` the median of its kind, so that a corpus of long reports is not reported as a whole.

Grab bag: an item that draws on problems of `FEWEST_FAMILIES` families or more is several items. Three happen honestly
(an epilogue after convolutions, transposed ones and products). Only families that a problem stands for, or that are
named as such, count.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from app.memory.budget import count_tokens
from app.memory.findings.finding import Finding, listed, quoted
from app.memory.findings.reading import Reading, problems_named
from app.records import Corpus
from app.vocabulary import FindingKind, ItemKind

MOST_TOKENS = 1_200
TIMES_THE_MEDIAN = 2.0
FEWEST_FAMILIES = 4

_FAMILY = re.compile(r"\b([a-z][a-z0-9_]*)[- ]famil(?:y|ies)\b")


def bloated(read: Sequence[Reading]) -> list[Finding]:
    """Items whose text is far longer than others of their kind. Code is as long as it has to be."""
    tokens = {reading.item.id: count_tokens(reading.item.text) for reading in read if reading.is_prose}
    lengths: dict[ItemKind, list[int]] = defaultdict(list)
    for reading in read:
        if reading.is_prose:
            lengths[reading.item.kind].append(tokens[reading.item.id])
    usual = {kind: median(values) for kind, values in lengths.items()}
    found = []
    for item in (reading.item for reading in read if reading.is_prose):
        length = tokens[item.id]
        if length > MOST_TOKENS and length >= TIMES_THE_MEDIAN * usual[item.kind]:
            evidence = (
                f"{item.id} takes about {length:,} tokens; half of the {item.kind} items take {usual[item.kind]:.0f} "
                f"or less. It begins {quoted(item.text[:100])}."
            )
            found.append(Finding(FindingKind.BLOATED, (item.id,), evidence))
    return found


def grab_bags(read: Sequence[Reading], corpus: Corpus) -> list[Finding]:
    """Items that draw on problems of many families."""
    known = {problem.family for problem in corpus.problems.values()}
    found = []
    for item in (reading.item for reading in read if reading.is_prose):
        examples: dict[str, str] = {}
        for name in problems_named(item.text, corpus):
            examples.setdefault(corpus.problems[name].family, name)
        for family in _FAMILY.findall(item.text):
            if family in known:
                examples.setdefault(family, "named")
        if len(examples) >= FEWEST_FAMILIES:
            told = listed(f"{family} ({example})" for family, example in sorted(examples.items()))
            evidence = f"{item.id} draws on problems of {len(examples)} families: {told}."
            found.append(Finding(FindingKind.GRAB_BAG, (item.id,), evidence))
    return found
