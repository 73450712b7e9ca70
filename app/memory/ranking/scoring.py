"""The score of an item for a task, as named factors whose product it is.

Specific item:  family x required x anchor x excludes x keys x collapse x structure x foreign x regimes x counters
Generic item:   generic x relevance x established
Both:           x evidence x reader x verification x understanding

Every factor lies in [0, 1], so a factor is a discount with a reason. docs/retrieval.md explains each with an example.
The factors of the first line up to `collapse` belong to a set of conditions and are computed once per distinct set;
their product bounds the score of every item of the set from above.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.memory.ranking.compiled import CompiledItems
from app.memory.ranking.conditions import Conditions
from app.memory.ranking.query import QueryVectors

Column = NDArray[np.float64]

POSITION_DISCOUNT = np.array([[1.0], [0.94], [0.88], [0.82], [0.76]])
OWN_OPERATION = 0.85
ANCHORED_FAMILY = 0.65
ANCHORED_EXCLUDED = 0.8
REQUIRED_FLOOR = 0.33
ANCHOR_SPAN = 0.3
STRUCTURE_FLOOR = 0.35
CORE_STRUCTURE = 0.72
FOREIGN_COST = 0.4
KEY_HARD_FALSE = 0.5
KEY_FALSE = 0.87
KEY_UNKNOWN = 0.92
REGIME_SPAN = 0.25
EXCLUDED_COST = 0.45
COLLAPSED = 0.3
EVIDENCE_SPAN = 0.12
RATE_SPAN = 0.06
GENERIC_BASE = 0.55
UNIVERSAL = 0.66  # relevance of a generic item that names no operation, family or regime
UNRELATED = 0.3
MENTIONED = 0.75
ROUTED = 0.88  # an item bound to Triton or to inline CUDA serves only askers who go that way


def _present(values: NDArray[np.float32], numbers: NDArray[np.intp]) -> NDArray[np.float64]:
    """Look numbers up and count padding as absent."""
    return np.where(numbers != len(values) - 1, values.take(numbers), 0.0).astype(np.float64)


@dataclass(frozen=True, slots=True)
class SharedFactors:
    """Factors over the distinct sets of conditions, and which sets keep their structure whatever the task's tail."""

    factors: Mapping[str, Column]
    steady: NDArray[np.bool_]


def family(sets: Conditions, query: QueryVectors, whole: Column) -> Column:
    """Return the best compatibility with an item's families, later ones discounted.

    An item that requires the task's own costly operation by name, alone or in a set term, is of its family whatever its
    label (0.85); one whose telling operations the task all contains serves as a part (0.65).
    """
    degrees = (query.family.take(sets.families) * POSITION_DISCOUNT).max(axis=0)
    demanded = OWN_OPERATION * query.heavy.take(sets.core_terms).max(axis=0)
    best: Column = np.maximum(np.maximum(degrees, demanded), ANCHORED_FAMILY * query.part * whole)
    return best


def anchored(sets: Conditions, query: QueryVectors) -> Column:
    """Return 1 where the task contains, by name, every telling operation that an item is about."""
    found = query.telling.take(sets.anchor).sum(axis=0)
    whole: Column = ((sets.telling_count > 0) & (found >= sets.telling_count * 0.9)).astype(np.float64)
    return whole


def required(sets: Conditions, query: QueryVectors) -> Column:
    """Return how far the required terms are present, from 0.33 for each side that is wholly missing.

    The costly operation's terms multiply; those of the tail are averaged, for an item that shares a norm but not the
    reduction after it still teaches the norm.
    """
    together: Column = query.term.take(sets.core_terms).astype(np.float64).prod(axis=0)
    core = REQUIRED_FLOOR + (1 - REQUIRED_FLOOR) * together
    present = _present(query.term, sets.tail_terms).sum(axis=0)
    share = np.where(sets.tail_count > 0, present / np.maximum(sets.tail_count, 1.0), 1.0)
    return core * (REQUIRED_FLOOR + (1 - REQUIRED_FLOOR) * share)


def anchor(sets: Conditions, query: QueryVectors) -> Column:
    """Return from 0.7 to 1 how far the task contains what an item is about, or something similar."""
    present = _present(query.term, sets.anchor).sum(axis=0)
    share = np.where(sets.anchor_count > 0, present / np.maximum(sets.anchor_count, 1.0), 1.0)
    return 1.0 - ANCHOR_SPAN * (1.0 - share)


def excludes(sets: Conditions, query: QueryVectors, whole: Column) -> Column:
    """Return ``1 - 0.45 x presence`` multiplied over what an item excludes; at least 0.8 for an item that serves as a
    part.
    """
    present: Column = query.excluded.take(sets.excludes).astype(np.float64)
    free: Column = (1.0 - EXCLUDED_COST * present).prod(axis=0)
    return np.maximum(free, ANCHORED_EXCLUDED * whole)


def keys(sets: Conditions, query: QueryVectors) -> Column:
    """Return 1 where a key regime holds, 0.92 where that is unknown, and 0.87 or, for a hard one, 0.5 where it is
    false.
    """
    best = _present(query.regime, sets.keys).max(axis=0)
    denied = np.where(sets.key_hard, KEY_HARD_FALSE, KEY_FALSE)
    above = KEY_UNKNOWN + (1 - KEY_UNKNOWN) * (2 * best - 1)
    below = denied + (KEY_UNKNOWN - denied) * 2 * best
    return np.where(sets.key_count == 0, 1.0, np.where(best >= 0.5, above, below))


def collapse(sets: Conditions, query: QueryVectors) -> Column:
    """Discount advice about a matrix product that disappears because a linear reduction follows it."""
    return np.where(sets.product_only & query.collapses, COLLAPSED, 1.0)


def relevance(sets: Conditions, query: QueryVectors) -> Column:
    """Return how near a generic item comes to the task: 1 if it names the task's operation or family, 0.75 for a
    mention.
    """
    named = query.exact.take(sets.about).max(axis=0)
    mentioned = MENTIONED * query.exact.take(sets.optional).max(axis=0)
    kin = (query.family.take(sets.families) * POSITION_DISCOUNT).max(axis=0)
    held = MENTIONED * np.maximum(_present(query.regime_sign, sets.regimes), 0.0).max(axis=0)
    near = np.maximum(np.maximum(named, mentioned), np.maximum(kin, held))
    found = np.where(sets.conditional, UNRELATED + (1 - UNRELATED) * near, UNIVERSAL)
    return found * np.where(sets.routed, ROUTED, 1.0)


def shared_factors(sets: Conditions, query: QueryVectors) -> SharedFactors:
    """Return the factors that depend on an item's set of conditions alone, over the distinct sets."""
    whole = anchored(sets, query)
    specific: Mapping[str, Column] = {
        "family": family(sets, query, whole),
        "required": required(sets, query),
        "anchor": anchor(sets, query),
        "excludes": excludes(sets, query, whole),
        "keys": keys(sets, query),
        "collapse": collapse(sets, query),
    }
    found = {name: np.where(sets.generic, 1.0, column) for name, column in specific.items()}
    found["generic"] = np.where(sets.generic, GENERIC_BASE, 1.0)
    found["relevance"] = np.where(sets.generic, relevance(sets, query), 1.0)
    found["understanding"] = np.full(len(sets.generic), understanding(query.confidence))
    return SharedFactors(found, sets.core | (whole > 0))


def structure(items: CompiledItems, query: QueryVectors, rows: NDArray[np.intp], steady: NDArray[np.bool_]) -> Column:
    """Return how far an item's operations cover the task's tail, from 0.35 (nothing) to 1 (everything).

    Items about the costly operation itself, and those that serve as a part, keep 0.72 whatever the tail.
    """
    covered = np.zeros(len(rows), dtype=np.float64)
    for number, weight in zip(query.operations, query.weights, strict=True):
        covered += items.covers[number].take(rows) * (float(weight) / 255.0)
    found = (
        STRUCTURE_FLOOR + (1 - STRUCTURE_FLOOR) * np.minimum(covered, 1.0)
        if len(query.operations)
        else np.ones(len(rows))
    )
    return np.where(steady[items.condition[rows]], np.maximum(found, CORE_STRUCTURE), found)


def foreign(items: CompiledItems, query: QueryVectors, rows: NDArray[np.intp]) -> Column:
    """Return a discount of up to 0.4 for normalisations, pools, reductions and the like that only the item has."""
    missing: Column = query.missing.take(items.strong.take(rows, axis=0).T).sum(axis=0).astype(np.float64)
    return 1.0 - FOREIGN_COST * missing / (items.strong_count[rows] + 1.0)


def regimes(items: CompiledItems, query: QueryVectors, rows: NDArray[np.intp]) -> Column:
    """Return from 0.7 to 1 how the item's regimes agree with those known of the task; 0.85 where none is known."""
    signs = query.regime_sign.take(items.regimes.take(rows, axis=0).T)
    share: Column = (signs.sum(axis=0) / (1.0 + np.abs(signs).sum(axis=0))).astype(np.float64)
    return 1.0 - REGIME_SPAN * (1.0 - share) / 2


def item_factors(
    items: CompiledItems,
    query: QueryVectors,
    steady: NDArray[np.bool_],
    rows: NDArray[np.intp],
    lexical: Column | None,
    dense: Column | None,
) -> dict[str, Column]:
    """Return the factors that differ between items of one set of conditions."""
    generic = items.conditions.generic[items.condition[rows]]
    return {
        "structure": np.where(generic, 1.0, structure(items, query, rows, steady)),
        "foreign": np.where(generic, 1.0, foreign(items, query, rows)),
        "regimes": np.where(generic, 1.0, regimes(items, query, rows)),
        "established": np.where(generic, 0.5 + 0.5 * items.established[rows], 1.0),
        "counters": np.where(generic, 1.0, 1.0 - RATE_SPAN * (1.0 - items.rate[rows])),
        "evidence": _evidence(lexical, dense, rows),
        "reader": items.reader.take(rows),
        "verification": items.verification.take(rows),
    }


def _evidence(lexical: Column | None, dense: Column | None, rows: NDArray[np.intp]) -> Column:
    """Return ``1 - 0.12 (1 - e)``, e the mean of the word and sentence similarities that were given, each in [0, 1]."""
    given = [column.take(rows) for column in (lexical, dense) if column is not None]
    if not given:
        return np.ones(len(rows), dtype=np.float64)
    total = np.zeros(len(rows), dtype=np.float64)
    for column in given:
        total += np.minimum(np.maximum(column, 0.0), 1.0)
    return 1.0 - EVIDENCE_SPAN * (1.0 - total / len(given))


def understanding(confidence: float) -> float:
    """Return the factor for how far the task was understood: 0 up to a confidence of 0.15, 1 from 0.5 on."""
    return min(1.0, max(0.0, (confidence - 0.15) / 0.35))
