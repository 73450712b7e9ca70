"""The conditions that many items share, compiled once per distinct set: families, required and excluded terms,
anchors, keys.

Scoring works on the few distinct sets first and only then looks at single items.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.memory.applies_when import AppliesWhen
from app.memory.ranking.numbering import Indices, Numbering, counts, rows
from app.memory.ranking.similarity import Table

MAX_FAMILIES = 5
MAX_CORE = 2
MAX_TERMS = 4
MAX_EXCLUDES = 6
MAX_OPTIONAL = 6
MAX_REGIMES = 12
MAX_KEYS = 3
CORE_KINDS = frozenset(
    {"gemm", "conv", "conv_transpose", "depthwise_conv", "special_matrix", "attention", "recurrence", "network_block"}
)
STRONG_KINDS = frozenset(
    {"normalisation", "pooling", "reduction", "softmax", "special_matrix", "scan", "loss", "recurrence"}
)
# Topics of items that are about the costly operation itself; the tail of a task hardly matters to them.
CORE_TOPICS = frozenset({"gemm_tiling", "split_k", "conv_rewrite", "direct_kernel", "layout", "persistent_kernel"})
# Regimes that decide whether a method works at all; the others only shift what it gains.
HARD_REGIMES = frozenset(
    {"stride_1", "strided", "dilated", "grouped", "skinny_m", "huge_k", "single_step", "time_loop", "linear_reduction",
     "nonlinear_before_reduction", "no_epilogue", "shared_rhs", "structural_zeros", "few_long_rows", "many_short_rows"}
)  # fmt: skip
ROUTES = frozenset({"triton", "load_inline_cuda"})


@dataclass(frozen=True, slots=True)
class Conditions:
    """Arrays over the U distinct sets of conditions. Index arrays are padded with the number after their table's last
    one.

    `core` marks advice on the costly operation itself, `product_only` advice on a matrix product with nothing linear
    after
    it, `conditional` generic items that name an operation, family or regime, `routed` those bound to one way of
    writing kernels.
    """

    generic: NDArray[np.bool_]
    families: Indices
    core_terms: Indices
    tail_terms: Indices
    tail_count: NDArray[np.float64]
    anchor: Indices
    anchor_count: NDArray[np.float64]
    telling_count: NDArray[np.float64]
    excludes: Indices
    keys: Indices
    key_count: NDArray[np.float64]
    key_hard: NDArray[np.bool_]
    core: NDArray[np.bool_]
    product_only: NDArray[np.bool_]
    about: Indices
    optional: Indices
    regimes: Indices
    conditional: NDArray[np.bool_]
    routed: NDArray[np.bool_]


def condition_key(record: AppliesWhen, table: Table) -> tuple[object, ...]:
    """Return what makes two records share their conditions."""
    if record.generic:
        return (True, record.families, record.required, record.anchor, record.optional, record.regimes)
    flags = (about_the_core(record, table), about_the_product(record, table))
    return (False, record.families, record.required, record.anchor, record.excludes, record.key_regimes, flags)


def compile_conditions(records: Sequence[AppliesWhen], numbering: Numbering) -> Conditions:
    """Compile one record per distinct `condition_key`."""
    table, terms, regimes = numbering.table, numbering.terms, numbering.regimes
    tail = rows([split_required(r, table)[1] for r in records], terms, MAX_TERMS)
    anchor = rows([r.anchor for r in records], terms, MAX_TERMS)
    about = rows([(*r.required, *r.anchor) for r in records], terms, MAX_TERMS)
    optional = rows([r.optional if r.generic else () for r in records], terms, MAX_OPTIONAL)
    keys = rows([r.key_regimes for r in records], regimes, MAX_KEYS)
    named = counts(about, terms) + counts(optional, terms) > 0
    return Conditions(
        generic=_flags(r.generic for r in records),
        families=rows([r.families for r in records], numbering.families, MAX_FAMILIES),
        core_terms=rows([split_required(r, table)[0] for r in records], terms, MAX_CORE),
        tail_terms=tail,
        tail_count=counts(tail, terms),
        anchor=anchor,
        anchor_count=counts(anchor, terms),
        telling_count=np.array(
            [sum(bool(table.telling[terms[t]]) for t in r.anchor if t in terms) for r in records], dtype=np.float64
        ),
        excludes=rows([r.excludes for r in records], numbering.excludable, MAX_EXCLUDES),
        keys=keys,
        key_count=counts(keys, regimes),
        key_hard=_flags(bool(HARD_REGIMES & set(r.key_regimes)) for r in records),
        core=_flags(about_the_core(r, table) for r in records),
        product_only=_flags(about_the_product(r, table) for r in records),
        about=about,
        optional=optional,
        regimes=rows([r.regimes if r.generic else () for r in records], regimes, MAX_REGIMES),
        conditional=named | _flags(bool(r.families) or bool(set(r.regimes) - ROUTES) for r in records),
        routed=_flags(bool(ROUTES & set(r.regimes)) for r in records),
    )


def _flags(values: Iterable[bool]) -> NDArray[np.bool_]:
    return np.array(list(values), dtype=np.bool_)


def split_required(record: AppliesWhen, table: Table) -> tuple[list[str], list[str]]:
    """Split required terms into the costly operation's and the tail's."""
    core = [term for term in record.required if table.lexicon.kind(term) in CORE_KINDS]
    return core, [term for term in record.required if term not in core]


def about_the_core(record: AppliesWhen, table: Table) -> bool:
    """Whether an item advises on the costly operation itself and demands no more than pointwise steps around it."""
    kinds = {table.lexicon.kind(term) for term in record.required}
    tail = kinds - CORE_KINDS - {"elementwise"}
    topical = not record.topics or bool(CORE_TOPICS & set(record.topics))
    return not tail and bool(kinds & CORE_KINDS) and topical


def about_the_product(record: AppliesWhen, table: Table) -> bool:
    """Whether an item is about a matrix product as such: worthless where a linear reduction makes the product
    collapse.
    """
    kinds = {table.lexicon.kind(term) for term in (*record.anchor, *record.required, *record.chain)}
    return "gemm" in kinds and not kinds & STRONG_KINDS and "linear_reduction" not in record.regimes


def strong_operations(record: AppliesWhen, table: Table) -> list[str]:
    """Return operations of the chain that set an item apart beyond what it requires: a task without them profits
    less.
    """
    known = [term for term in record.required if term in table.number]
    demanded = {member for term in known for member in table.lexicon.members(term)}
    return list(
        dict.fromkeys(op for op in record.chain if table.lexicon.kind(op) in STRONG_KINDS and op not in demanded)
    )
