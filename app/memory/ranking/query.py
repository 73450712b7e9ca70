"""A task profile as the vectors that item arrays are looked up in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.memory.ranking.similarity import HEAVY, Table, Vector, similarity_table
from app.memory.task.profile import OperationUse, TaskProfile

OPPOSITES = {"stride_1": "strided", "strided": "stride_1", "small_batch": "large_batch", "large_batch": "small_batch",
             "linear_reduction": "nonlinear_before_reduction", "nonlinear_before_reduction": "linear_reduction",
             "single_step": "time_loop", "time_loop": "single_step", "eval_mode_norm": "train_mode_norm"}  # fmt: skip
FAMILY_POWER = 1.15
DEEPHEAVY = 0.7
DEEP_PART = 0.65  # how far an item that serves as a part of a task serves a deep network
PARTLYHEAVY = 0.5  # the products inside attention or a gated recurrence are not what the task is about
IMPLIED = 0.85  # certainty of the steps that a named block stands for
ASSUMED = 0.75  # degree of a regime that usually holds; 0.5 is unknown
OPERATION_EXCLUSION = 0.75  # an excluded operation costs less than an excluded regime
BLOCK_EXCLUSION = 0.5  # an item that excludes a network block may still serve as a part of it
SECONDARY = 0.5  # how far a family counts that only the tail of the task belongs to
_KIND_FAMILY = {"normalisation": "norm", "pooling": "pooling", "reduction": "reduction", "softmax": "softmax",
                "elementwise": "activation", "gemm": "matmul", "conv": "conv", "depthwise_conv": "conv",
                "attention": "attention", "scan": "scan", "network_block": "network",
                "conv_transpose": "conv_transpose",
                "special_matrix": "matmul", "loss": "loss", "recurrence": "rnn"}  # fmt: skip
STRONG_SHARE = 0.8
_POINTWISE = frozenset({"elementwise", "indexing", "layout"})


@dataclass(frozen=True, slots=True)
class QueryVectors:
    """Lookup tables of one query: one more entry than the numbering has, for padding.

    `family`, `term` and `regime` hold degrees in [0, 1] (regime: 1 holds, 0 known false, 0.5 unknown). `operations`
    are the numbers of the task's tail operations with their weights. `telling` holds the degrees of operations that
    say what an item is about (no plain products, layouts or light steps). `part` in (0, 1] is how far an item about
    one step serves this task. `collapses` says that the task reduces linearly, so that steps can be folded together.
    """

    family: Vector
    term: Vector
    exact: Vector
    heavy: Vector
    missing: Vector
    excluded: Vector
    regime: Vector
    regime_sign: Vector
    operations: NDArray[np.intp]
    weights: Vector
    telling: Vector
    part: float
    collapses: bool
    confidence: float


def query_vectors(profile: TaskProfile) -> QueryVectors:
    """Build the lookup tables for a profile; operations the vocabulary does not know are left out."""
    table = similarity_table()
    uses = _expanded([use for use in profile.operations if use.name in table.number], table)
    presence = table.presence((use.name, use.certainty) for use in uses)
    certainty = np.zeros(len(table.names), dtype=np.float32)
    for use in uses:
        certainty[table.number[use.name]] = max(certainty[table.number[use.name]], use.certainty)
    exact = (table.stands_for * certainty).max(axis=1)
    regime = np.full(len(table.lexicon.regimes) + 1, 0.5, dtype=np.float32)
    known = np.zeros(len(table.lexicon.regimes), dtype=np.float32)
    for index, name in enumerate(table.lexicon.regimes):
        if name in profile.regimes:
            regime[index] = 1.0 if profile.regimes[name] else 0.0
            known[index] = regime[index]
        elif name in profile.assumed:
            regime[index] = ASSUMED
            known[index] = ASSUMED - 0.5
        elif OPPOSITES.get(name) in profile.assumed:
            regime[index] = 1.0 - ASSUMED
    tail, weights = _tail(uses, table)
    return QueryVectors(
        family=_family(profile, table),
        term=np.append(presence, np.float32(1.0)),
        exact=np.append(exact, np.float32(0.0)),
        heavy=np.append(_heavy_terms(profile, uses, table), np.float32(0.0)),
        missing=np.append(1.0 - presence, np.float32(0.0)).astype(np.float32),
        excluded=np.concatenate(
            [np.where(table.blocks, BLOCK_EXCLUSION, OPERATION_EXCLUSION) * exact, known, np.zeros(1, dtype=np.float32)]
        ),
        regime=regime,
        regime_sign=((regime - 0.5) * 2).astype(np.float32),
        operations=tail,
        weights=weights,
        telling=np.append(np.where(table.telling, exact, 0.0), np.float32(0.0)).astype(np.float32),
        part=DEEP_PART if _is_deep(profile, uses) else 1.0,
        collapses=bool(profile.regimes.get("linear_reduction")),
        confidence=profile.confidence,
    )


def _expanded(uses: Sequence[OperationUse], table: Table) -> list[OperationUse]:
    """Add the simpler steps that blocks, attention and recurrences stand for, where the task does not list them
    itself.
    """
    present = {use.name for use in uses}
    found = list(uses)
    for use in uses:
        if table.lexicon.kind(use.name) in {"network_block", "attention", "scan"}:
            for name in table.lexicon.operations[use.name].expands_to:
                if name not in present:
                    present.add(name)
                    found.append(OperationUse(name, use.certainty * IMPLIED, "implied", use.name))
    return found


def _is_deep(profile: TaskProfile, uses: Sequence[OperationUse]) -> bool:
    """Whether the task is a network of many layers, in which a single step matters little."""
    return bool(profile.regimes.get("many_layers", "many_layers" in profile.assumed)) or len(uses) > 16


def _heavy_terms(profile: TaskProfile, uses: Sequence[OperationUse], table: Table) -> Vector:
    """Return how far each term names the task's own costly operation: 1 in a small task, less in a deep network."""
    deep = _is_deep(profile, uses)
    partly = profile.family == "attention" or bool({"lstm", "gru"} & set(profile.chain))
    degree = PARTLYHEAVY if partly else DEEPHEAVY if deep else 1.0
    convolutions = HEAVY - {"gemm"}
    convolves = any(table.lexicon.kind(use.name) in convolutions for use in uses)
    kinds = {"gemm"} if profile.family in {"attention", "rnn", "matmul"} or not convolves else convolutions
    own = np.zeros(len(table.names), dtype=np.float32)
    own[[table.number[use.name] for use in uses if table.lexicon.kind(use.name) in kinds]] = degree
    return np.where(table.heavy, (table.stands_for * own).max(axis=1), 0.0).astype(np.float32)


def _family(profile: TaskProfile, table: Table) -> Vector:
    lexicon = table.lexicon
    own = [lexicon.family_compatibility(profile.family, family) for family in lexicon.families]
    tail = {_KIND_FAMILY.get(lexicon.kind(use.name), "") for use in profile.operations}
    degrees = [
        max(degree, SECONDARY if family in tail else 0.0) for family, degree in zip(lexicon.families, own, strict=True)
    ]
    return np.append(np.array(degrees, dtype=np.float32) ** np.float32(FAMILY_POWER), np.float32(0.0))


def _tail(uses: Sequence[OperationUse], table: Table) -> tuple[NDArray[np.intp], Vector]:
    weights: dict[int, float] = {}
    for use in uses:
        number = table.number[use.name]
        weights[number] = max(weights.get(number, 0.0), float(table.weight[number]) * use.certainty)
    tail = {n: w for n, w in weights.items() if table.lexicon.kind(table.names[n]) not in HEAVY} or weights
    strong = {n: w for n, w in tail.items() if table.lexicon.kind(table.names[n]) not in _POINTWISE}
    soft = {n: w for n, w in tail.items() if n not in strong}
    if strong and soft:  # pools, norms and reductions set a task apart; its pointwise steps are much like any others
        shares = {n: STRONG_SHARE * w / sum(strong.values()) for n, w in strong.items()}
        shares |= {n: (1 - STRONG_SHARE) * w / sum(soft.values()) for n, w in soft.items()}
    else:
        shares = {n: w / max(sum(tail.values()), 1e-9) for n, w in tail.items()}
    return np.array(list(shares), dtype=np.intp), np.array(list(shares.values()), dtype=np.float32)
