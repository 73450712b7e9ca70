"""The score of an item for a task, as named factors whose product it is.

Specific item:  family x required x structure x foreign x regime x excludes x collapse x evidence x counters x verification x understanding
Generic item:   generic x relevance x established x evidence x counters x verification x understanding

Every factor lies in [0, 1], so a factor is a discount with a reason. docs/retrieval.md explains each with an example.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from app.memory.ranking.compiled import CompiledItems
from app.memory.ranking.query import QueryVectors

Column = NDArray[np.float64]

POSITION_DISCOUNT = np.array([1.0, 0.94, 0.88, 0.82, 0.76], dtype=np.float32)
REQUIRED_FLOOR = 0.3
STRUCTURE_FLOOR = 0.55
FOREIGN_COST = 0.45
KEY_FALSE = 0.67
KEY_UNKNOWN = 0.85
REGIME_SPAN = 0.12
EXCLUDED_COST = 0.55
COLLAPSED = 0.3
EVIDENCE_SPAN = 0.12
RATE_SPAN = 0.06
GENERIC_BASE = 0.42


def opening(items: CompiledItems, query: QueryVectors) -> Column:
    """Return an upper bound of every item's score, cheap enough for all items: family times required, or the generic base."""
    specific = family(items, query, slice(None)) * required(items, query, slice(None))
    return np.where(items.generic, GENERIC_BASE * 1.0, specific)


Rows = slice | NDArray[np.intp]


def family(items: CompiledItems, query: QueryVectors, rows: Rows) -> Column:
    """Return the best compatibility with an item's families, later ones discounted."""
    degrees = query.family.take(items.families[rows]) * POSITION_DISCOUNT
    return degrees.max(axis=1).astype(np.float64)


def required(items: CompiledItems, query: QueryVectors, rows: Rows) -> Column:
    """Return the product over required terms of ``0.3 + 0.7 presence``."""
    present = query.term.take(items.required[rows])
    return (REQUIRED_FLOOR + (1 - REQUIRED_FLOOR) * present).prod(axis=1).astype(np.float64)


def structure(items: CompiledItems, query: QueryVectors, rows: Rows) -> Column:
    """Return how far an item's operations cover the task's tail, from 0.55 (nothing) to 1 (everything)."""
    total = float(query.weights.sum())
    if not len(query.operations) or total <= 0:
        return np.ones(len(items.generic[rows]), dtype=np.float64)
    covered = sum(
        items.covers[number][rows] * (float(weight) / (255.0 * total))
        for number, weight in zip(query.operations, query.weights, strict=True)
    )
    return STRUCTURE_FLOOR + (1 - STRUCTURE_FLOOR) * np.asarray(covered, dtype=np.float64)


def foreign(items: CompiledItems, query: QueryVectors, rows: Rows) -> Column:
    """Return a discount for normalisations, pools, reductions and the like that only the item has."""
    missing = query.missing.take(items.strong[rows]).sum(axis=1)
    share = missing / np.maximum(items.strong_count[rows], 1.0)
    return (1.0 - FOREIGN_COST * share).astype(np.float64)


def regime(items: CompiledItems, query: QueryVectors, rows: Rows) -> Column:
    """Return 1 where a key regime holds, less where none is known to; other regimes move the score a little."""
    keys = query.regime.take(items.keys[rows])
    valid = items.keys[rows] != len(query.regime) - 1
    best = np.where(valid, keys, 0.0).max(axis=1)
    key = np.where(
        items.key_count[rows] == 0, 1.0, np.where(best >= 1.0, 1.0, np.where(best >= 0.5, KEY_UNKNOWN, KEY_FALSE))
    )
    states = query.regime.take(items.regimes[rows])
    known = np.where(items.regimes[rows] != len(query.regime) - 1, states - 0.5, 0.0).sum(axis=1)
    share = known / np.maximum(items.regime_count[rows], 1.0)
    return key * (1.0 - REGIME_SPAN * (0.5 - share))


def excludes(items: CompiledItems, query: QueryVectors, rows: Rows) -> Column:
    """Return ``1 - 0.55 x presence`` multiplied over what an item excludes."""
    present = query.excluded.take(items.excludes[rows])
    return (1.0 - EXCLUDED_COST * present).prod(axis=1).astype(np.float64)


def collapse(items: CompiledItems, query: QueryVectors, rows: Rows) -> Column:
    """Discount advice about a matrix product that disappears: a linear reduction after it collapses the product."""
    if not query.collapses:
        return np.ones(len(items.generic[rows]), dtype=np.float64)
    return np.where(items.gemm_only[rows], COLLAPSED, 1.0)


def relevance(items: CompiledItems, query: QueryVectors, rows: Rows) -> Column:
    """Return how near a generic item's remarks come to the task: its operations, families and regimes."""
    held = items.optional_count[rows]
    best = np.where(items.optional[rows] != len(query.term) - 1, query.term.take(items.optional[rows]), 0.0).max(axis=1)
    named = (items.families[rows] != len(query.family) - 1).any(axis=1)
    kin = (query.family.take(items.families[rows]) * POSITION_DISCOUNT).max(axis=1)
    operations = np.where(held == 0, 0.75, 0.4 + 0.5 * best)
    return np.where(named, np.maximum(operations * 0.6, 0.3 + 0.7 * kin), operations).astype(np.float64)


def factors(
    items: CompiledItems, query: QueryVectors, rows: NDArray[np.intp], lexical: Column | None, dense: Column | None
) -> dict[str, Column]:
    """Return every factor for the rows asked for; factors of the other class are 1."""
    generic = items.generic[rows]
    ones = np.ones(len(rows), dtype=np.float64)
    specific: Mapping[str, Column] = {
        "family": family(items, query, rows),
        "required": required(items, query, rows),
        "structure": structure(items, query, rows),
        "foreign": foreign(items, query, rows),
        "regime": regime(items, query, rows),
        "excludes": excludes(items, query, rows),
        "collapse": collapse(items, query, rows),
    }
    found = {name: np.where(generic, ones, column) for name, column in specific.items()}
    found["generic"] = np.where(generic, GENERIC_BASE, ones)
    found["relevance"] = np.where(generic, relevance(items, query, rows), ones)
    found["established"] = np.where(generic, 0.7 + 0.3 * items.established[rows], ones)
    found["evidence"] = _evidence(lexical, dense, rows)
    found["counters"] = np.where(generic, ones, 1.0 - RATE_SPAN * (1.0 - items.rate[rows]))
    found["verification"] = items.verification[rows]
    found["understanding"] = ones * understanding(query.confidence)
    return found


def _evidence(lexical: Column | None, dense: Column | None, rows: NDArray[np.intp]) -> Column:
    """Return ``1 - 0.12 (1 - e)``, e the mean of the normalised word and sentence similarities that were given."""
    given = [np.clip(column[rows], 0.0, 1.0) for column in (lexical, dense) if column is not None]
    if not given:
        return np.ones(len(rows), dtype=np.float64)
    return 1.0 - EVIDENCE_SPAN * (1.0 - np.mean(given, axis=0))


def understanding(confidence: float) -> float:
    """Return the factor for how far the task was understood: 0 up to a confidence of 0.15, 1 from 0.5 on."""
    return min(1.0, max(0.0, (confidence - 0.15) / 0.35))
