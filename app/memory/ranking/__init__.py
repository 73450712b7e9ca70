"""Ranking: absolute, explained scores of compiled items for a task profile."""

from app.memory.ranking.compiled import CompiledItems, ItemFacts, compile_items
from app.memory.ranking.rank import DEFAULT_THRESHOLD, Hit, Ranking, rank

__all__ = ["DEFAULT_THRESHOLD", "CompiledItems", "Hit", "ItemFacts", "Ranking", "compile_items", "rank"]
