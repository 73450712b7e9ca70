"""The rankings that are compared: baselines and our own, each a function from a query's text to item scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.memory.applies_when import AppliesWhen
from app.memory.derivation import derive, merge
from app.memory.ranking import ItemFacts, compile_items, rank
from app.memory.task import TaskProfile, read_task
from eval.quality.data import Collection, Item, Query

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
Scores = Mapping[str, float]
RECORD_SOURCES = ("curated", "derived", "both")


@dataclass(frozen=True, slots=True)
class Asked:
    """One query in one wording, with the task profile every ranking may use."""

    query: Query
    wording: str
    profile: TaskProfile

    @property
    def text(self) -> str:
        """The words or code as asked."""
        return self.query.wordings[self.wording]


Ranking = Callable[[Asked], Scores]


def ask(query: Query, wording: str, embed: Embed | None) -> Asked:
    """Read one wording of a query; code goes in as code."""
    text = query.wordings[wording]
    profile = read_task(None, text, embed=embed) if wording == "code" else read_task(text, None, embed=embed)
    return Asked(query, wording, profile)


def records(collection: Collection, source: str) -> dict[str, AppliesWhen]:
    """Return a record per item: a curator's, one derived from the item's head, or both merged.

    Raises:
        ValueError: source is none of `RECORD_SOURCES`.
    """
    if source not in RECORD_SOURCES:
        raise ValueError(f"records come from one of {RECORD_SOURCES}, not {source!r}")
    derived = {item.id: derive(item.text, None, None) for item in collection.items}
    if source == "derived":
        return derived
    curated = collection.records
    if source == "curated":
        return {item.id: curated[item.id] for item in collection.items}
    return {item.id: merge(curated[item.id], derived[item.id]) for item in collection.items}


def by_counters(items: Sequence[Item]) -> Ranking:
    """Rank by the helpful counter, descending, whatever is asked."""
    fixed = {item.id: float(item.helpful) for item in items}
    return lambda asked: fixed


def by_words(items: Sequence[Item]) -> Ranking:
    """Rank by BM25 of the query's text over whole items."""
    import bm25s

    index = bm25s.BM25()
    index.index(bm25s.tokenize([item.text for item in items], show_progress=False), show_progress=False)

    def score(asked: Asked) -> Scores:
        tokens = bm25s.tokenize(asked.text, return_ids=False, show_progress=False)[0]
        known = [token for token in tokens if token in index.vocab_dict]
        values = index.get_scores(known) if known else np.zeros(len(items))
        return {item.id: float(value) for item, value in zip(items, values, strict=True)}

    return score


def by_sentences(items: Sequence[Item], embed: Embed) -> Ranking:
    """Rank by cosine of the query's text and the whole item."""
    vectors = embed([item.text for item in items])

    def score(asked: Asked) -> Scores:
        values = vectors @ embed([asked.text])[0]
        return {item.id: float(value) for item, value in zip(items, values, strict=True)}

    return score


def by_operations(items: Sequence[Item], embed: Embed) -> Ranking:
    """Rank by the simple sum of shared operations, BM25 and cosine, each scaled to [0, 1]."""
    chains = {item.id: set(derive(item.text, None, None).chain) for item in items}
    others = (by_words(items), by_sentences(items, embed))

    def score(asked: Asked) -> Scores:
        chain = set(asked.profile.chain)
        shared = {name: len(chain & found) / max(len(chain | found), 1) for name, found in chains.items()}
        parts = [_scaled(shared), *(_scaled(other(asked)) for other in others)]
        return {item.id: sum(part[item.id] for part in parts) for item in items}

    return score


def _scaled(scores: Scores) -> dict[str, float]:
    low, high = min(scores.values()), max(scores.values())
    return {name: (value - low) / ((high - low) or 1.0) for name, value in scores.items()}


def ours(items: Sequence[Item], found: Mapping[str, AppliesWhen], lexical: Ranking | None = None) -> Ranking:
    """Rank by the code that serves, over records; optionally with BM25 as lexical evidence."""
    compiled = compile_items([ItemFacts(item.id, found[item.id], item.helpful, item.harmful) for item in items])

    def score(asked: Asked) -> Scores:
        words = None
        if lexical is not None:
            scores = lexical(asked)
            values = np.array([scores[item.id] for item in items], dtype=np.float64)
            words = values / max(float(values.max()), 1e-9)
        hits = rank(asked.profile, compiled, top_k=len(items), threshold=0.0, lexical=words).hits
        return {hit.id: hit.score for hit in hits}

    return score
