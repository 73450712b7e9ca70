"""Removes readings that contradict each other: a phrase read as a forward convolution beside a transposed one, and so
on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from app.memory.lexicon import Lexicon
from app.memory.lexicon.loader import DIMENSIONED
from app.memory.task.matching import Match

SURE_NAME = 0.9  # below it a name is an ordinary word as well
_TAILS = frozenset({"normalisation", "elementwise", "reduction", "softmax"})
_ONCE = frozenset({"attention", "recurrence", "scan", "network_block", "loss", "special_matrix"})
_SPECIFIC = (
    "relu_attention",
    "causal_attention",
    "window_attention",
    "multi_head_attention",
    "scaled_dot_product_attention",
)
_RECURRENCES = ("lstm", "gru", "rnn_cell", "vanilla_rnn")
_LOOPS = re.compile(r"sequence|each step|every step|step by step|over time|time steps|through time|timesteps")
_PLAIN = frozenset({"conv{d}", "conv1d", "conv2d", "conv3d"})
_GUESSED = frozenset({"phrase", "embedding"})
_CONVOLUTIONS = frozenset({"conv", "conv_transpose", "depthwise_conv"})
_TOKEN_BLOCKS = frozenset({"transformer_block", "spatial_mlp", "mlp", "patch_merging", "netvlad"})


def consistent(matches: Sequence[Match], negated: Sequence[str], text: str, lexicon: Lexicon) -> list[Match]:
    """Return the matches without those that a surer one rules out; order is kept."""
    kept = _enlarging(_one_recurrence(list(matches), text), text, lexicon)
    for rule in (
        _loss_in_a_block,
        _one_attention,
        _one_of_each,
        _one_convolution,
        _block_over_parts,
        _special_over_general,
        _product_with_a_tail,
        _whole_over_its_parts,
    ):
        kept = rule(kept, negated, lexicon)
    return kept


def kind_of(match: Match, lexicon: Lexicon) -> str:
    """Return the kind of a match whose number of dimensions may still be open."""
    return lexicon.kind(match.operation.replace(DIMENSIONED, "2d"))


def _one_attention(matches: list[Match], negated: Sequence[str], lexicon: Lexicon) -> list[Match]:
    """Keep the most specific attention; attention with ReLU and without softmax is ReLU attention."""
    found = [m for m in matches if m.operation in _SPECIFIC]
    if any("attention" in words or "attn" in words for words in negated):
        return [m for m in matches if m not in found]
    if not found:
        return matches
    first = found[0]
    name = min((m.operation for m in found), key=_SPECIFIC.index)
    relu = any(m.operation == "relu" for m in matches)
    if relu and any("softmax" in words for words in negated):
        name = "relu_attention"
    rest = [
        m
        for m in matches
        if m is first or (m not in found and not (name == "relu_attention" and m.operation == "relu"))
    ]
    return [replace(m, operation=name, certainty=max(f.certainty for f in found)) if m is first else m for m in rest]


def _one_recurrence(matches: list[Match], text: str) -> list[Match]:
    """Keep the most specific recurrence; a cell stepped through a sequence is a recurrent network."""
    found = [m for m in matches if m.operation in _RECURRENCES]
    if not found:
        return matches
    if any(m.operation == "ssd_scan" for m in matches):
        return [m for m in matches if m not in found or m.source not in _GUESSED]
    name = min((m.operation for m in found), key=_RECURRENCES.index)
    if name == "rnn_cell" and _LOOPS.search(text) and found[0].source in _GUESSED:
        name = "vanilla_rnn"
    first = found[0]
    rest = [m for m in matches if m is first or m not in found]
    return [replace(m, operation=name, certainty=max(f.certainty for f in found)) if m is first else m for m in rest]


def _enlarging(matches: list[Match], text: str, lexicon: Lexicon) -> list[Match]:
    """A phrase read as a plain convolution in a text that speaks of enlarging is a transposed one."""
    kinds = {kind_of(m, lexicon) for m in matches}
    named = any(kind_of(m, lexicon) in _CONVOLUTIONS and m.source not in _GUESSED for m in matches)
    if named or kinds & {"conv_transpose", "network_block"} or not lexicon.enlarging.search(text):
        return matches
    return [
        replace(m, operation=m.operation.replace("conv", "conv_transpose", 1)) if m.operation in _PLAIN else m
        for m in matches
    ]


def _loss_in_a_block(matches: list[Match], negated: Sequence[str], lexicon: Lexicon) -> list[Match]:
    """Beside attention or a network, words such as "cosine similarity" name a step and no loss."""
    kinds = {kind_of(m, lexicon) for m in matches}
    if not kinds & {"attention", "network_block"}:
        return matches
    return [m for m in matches if kind_of(m, lexicon) != "loss"]


def _one_of_each(matches: list[Match], negated: Sequence[str], lexicon: Lexicon) -> list[Match]:
    """Mentioning a recurrence, scan, loss or block twice does not make two of it."""
    seen: set[str] = set()
    kept = []
    for match in matches:
        if match.operation in seen and kind_of(match, lexicon) in _ONCE:
            continue
        seen.add(match.operation)
        kept.append(match)
    return kept


def _one_convolution(matches: list[Match], negated: Sequence[str], lexicon: Lexicon) -> list[Match]:
    """Beside a named or transposed convolution, a phrase read as another convolution describes the same one."""
    convolutions = [m for m in matches if kind_of(m, lexicon) in _CONVOLUTIONS]
    named = [m for m in convolutions if m.source not in _GUESSED]
    transposed = [m for m in convolutions if kind_of(m, lexicon) == "conv_transpose"]
    if named:
        gone = [m for m in convolutions if m.source in _GUESSED and kind_of(m, lexicon) != "depthwise_conv"]
    elif transposed:
        gone = [m for m in convolutions if m not in transposed]
    else:
        gone = []
    return [m for m in matches if m not in gone]


def _block_over_parts(matches: list[Match], negated: Sequence[str], lexicon: Lexicon) -> list[Match]:
    """Inside a described image network, phrases about enlarging are no transposed convolutions (except in a U-Net)."""
    blocks = {m.operation for m in matches if kind_of(m, lexicon) == "network_block"} - _TOKEN_BLOCKS
    if not blocks or "unet_block" in blocks:
        return matches
    return [m for m in matches if not (kind_of(m, lexicon) == "conv_transpose" and m.source in _GUESSED)]


def _special_over_general(matches: list[Match], negated: Sequence[str], lexicon: Lexicon) -> list[Match]:
    """A structured, batched or transposed product rules out the plain one that its words also describe."""
    special = any(
        kind_of(m, lexicon) == "special_matrix" or m.operation.startswith(("matmul_t", "batched_m", "tensor", "matvec"))
        for m in matches
    )
    linear = any(m.operation == "linear" for m in matches)
    return [m for m in matches if not (m.operation == "matmul" and (special or (linear and m.source in _GUESSED)))]


def _product_with_a_tail(matches: list[Match], negated: Sequence[str], lexicon: Lexicon) -> list[Match]:
    """A product by name with a norm, an activation or a reduction after it is a layer ("gemm gn hardtanh")."""
    if not any(kind_of(m, lexicon) in _TAILS for m in matches):
        return matches
    return [replace(m, operation="linear") if m.operation == "matmul" and m.source == "name" else m for m in matches]


def _whole_over_its_parts(matches: list[Match], negated: Sequence[str], lexicon: Lexicon) -> list[Match]:
    """Attention normalises and a loss averages by itself; a bottleneck inside another block is no residual block."""
    kinds = {kind_of(m, lexicon) for m in matches}
    attends = any(m.operation in _SPECIFIC and m.operation != "relu_attention" for m in matches)
    other = any(kind_of(m, lexicon) == "network_block" and m.operation != "residual_block" for m in matches)
    return [
        m
        for m in matches
        if not (attends and m.operation == "softmax" and m.source in _GUESSED)
        and not ("loss" in kinds and m.operation == "mean_reduce")
        and not (other and m.operation == "residual_block" and m.source == "name" and m.certainty < SURE_NAME)
    ]
