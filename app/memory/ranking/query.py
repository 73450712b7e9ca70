"""A task profile as the vectors that item arrays are looked up in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.memory.ranking.similarity import LIGHT, Table, Vector, similarity_table
from app.memory.task.profile import TaskProfile

FAMILY_POWER = 1.3
SECONDARY = 0.55  # how far a family counts that only the tail of the task belongs to
_KIND_FAMILY = {"normalisation": "norm", "pooling": "pooling", "reduction": "reduction", "softmax": "softmax",
                "elementwise": "activation", "gemm": "matmul", "conv": "conv", "depthwise_conv": "conv",
                "attention": "attention", "scan": "scan", "network_block": "network", "conv_transpose": "conv_transpose",
                "special_matrix": "matmul", "loss": "loss", "recurrence": "rnn"}  # fmt: skip
_HEAVY = frozenset({"conv", "conv_transpose", "gemm", "depthwise_conv"})


@dataclass(frozen=True, slots=True)
class QueryVectors:
    """Lookup tables of one query: one more entry than the numbering has, for padding.

    `family`, `term` and `regime` hold degrees in [0, 1] (regime: 1 holds, 0 known false, 0.5 unknown). `operations` are the
    numbers of the task's tail operations with their weights.
    """

    family: Vector
    term: Vector
    missing: Vector
    excluded: Vector
    regime: Vector
    operations: NDArray[np.intp]
    weights: Vector
    collapses: bool
    heavy: bool
    confidence: float


def query_vectors(profile: TaskProfile) -> QueryVectors:
    """Build the lookup tables for a profile; operations the vocabulary does not know are left out."""
    table = similarity_table()
    uses = [use for use in profile.operations if use.name in table.number]
    presence = table.presence((use.name, use.certainty) for use in uses)
    exact = np.zeros(len(table.names), dtype=np.float32)
    for number, members in enumerate(table.members):
        names = {table.names[m] for m in members}
        exact[number] = max((use.certainty for use in uses if use.name in names), default=0.0)
    regime = np.full(len(table.lexicon.regimes) + 1, 0.5, dtype=np.float32)
    known = np.zeros(len(table.lexicon.regimes), dtype=np.float32)
    for index, name in enumerate(table.lexicon.regimes):
        if name in profile.regimes:
            regime[index] = 1.0 if profile.regimes[name] else 0.0
            known[index] = regime[index]
    tail, weights = _tail(uses, table)
    return QueryVectors(
        family=_family(profile, table),
        term=np.append(presence, np.float32(1.0)),
        missing=np.append(1.0 - presence, np.float32(0.0)).astype(np.float32),
        excluded=np.concatenate([exact, known, np.zeros(1, dtype=np.float32)]),
        regime=regime,
        operations=tail,
        weights=weights,
        collapses=bool(profile.regimes.get("linear_reduction")),
        heavy=any(table.lexicon.kind(use.name) in _HEAVY for use in uses),
        confidence=profile.confidence,
    )


def _family(profile: TaskProfile, table: Table) -> Vector:
    lexicon = table.lexicon
    own = [lexicon.family_compatibility(profile.family, family) for family in lexicon.families]
    tail = {_KIND_FAMILY.get(lexicon.kind(use.name), "") for use in profile.operations}
    degrees = [
        max(degree, SECONDARY if family in tail else 0.0) for family, degree in zip(lexicon.families, own, strict=True)
    ]
    return np.append(np.array(degrees, dtype=np.float32) ** np.float32(FAMILY_POWER), np.float32(0.0))


def _tail(uses: list, table: Table) -> tuple[NDArray[np.intp], Vector]:  # type: ignore[type-arg]
    weights: dict[int, float] = {}
    for use in uses:
        number = table.number[use.name]
        weights[number] = max(weights.get(number, 0.0), float(table.weight[number]) * use.certainty)
    strong = {n: w for n, w in weights.items() if table.lexicon.kind(table.names[n]) not in _HEAVY} or weights
    substantial = {n: w for n, w in strong.items() if table.names[n] not in LIGHT} or strong
    chosen = strong if len(substantial) == len(strong) else {**strong}
    return np.array(list(chosen), dtype=np.intp), np.array(list(chosen.values()), dtype=np.float32)
