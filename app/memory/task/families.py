"""Decides the family and the dominant operation of a task from its operations, its name and its level."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.memory.lexicon import Lexicon

_NETWORK_KINDS = frozenset({"network_block"})
_PRIORITY: tuple[tuple[str, str], ...] = (
    ("recurrence", "rnn"), ("attention", "attention"), ("conv_transpose", "conv_transpose"), ("conv", "conv"),
    ("depthwise_conv", "conv"), ("gemm", "matmul"), ("special_matrix", "matmul"), ("loss", "loss"), ("scan", "scan"),
    ("normalisation", "norm"), ("softmax", "softmax"), ("pooling", "pooling"), ("reduction", "reduction"),
    ("elementwise", "activation"), ("layout", "activation"), ("indexing", "activation"),
)  # fmt: skip
_OVERRIDES = {"ssd_scan": "attention", "netvlad": "matmul", "transformer_block": "attention",
              "spatial_mlp": "attention",
              "patch_merging": "attention", "mlp": "network"}  # fmt: skip
_NAME_LEVEL_3: tuple[tuple[str, str], ...] = (
    (r"rnn|lstm|gru", "rnn"),
    (r"attention|transformer|gpt|mamba|swin|vit", "attention"),
    (r"netvlad", "matmul"),
)
_NAME: tuple[tuple[str, str], ...] = (
    (r"convtranspose|conv_transposed|transposed_?conv|deconv", "conv_transpose"),
    (r"conv", "conv"),
    (r"bmm_instancenorm", "norm"),
    (r"attention", "attention"),
    (r"gemm|matmul|matrix|linear", "matmul"),
    (r"loss", "loss"),
    (r"cum", "scan"),
    (r"softmax", "softmax"),
    (r"norm", "norm"),
    (r"pool", "pooling"),
    (r"reduction|argm", "reduction"),
)


def family_of_name(name: str, level: int | None) -> str:
    """Return the family by a problem's name and level, first match wins; '' when the name says nothing."""
    lowered = name.lower()
    if level == 3:
        return next((family for pattern, family in _NAME_LEVEL_3 if re.search(pattern, lowered)), "network")
    return next(
        (family for pattern, family in _NAME if re.search(pattern, lowered)), "activation" if level == 1 else ""
    )


def family_of_operations(chain: Sequence[str], lexicon: Lexicon) -> str:
    """Return the family of an operation chain; '' for an empty one.

    Recurrences and attention decide first, then whole-network blocks and repeated convolutions, then the costliest
    kind.
    """
    kinds = [lexicon.kind(name) for name in chain]
    present = set(kinds)
    if "recurrence" in present:
        return "rnn"
    if "attention" in present and "netvlad" not in chain:
        return "attention"
    overrides = [_OVERRIDES[name] for name in chain if name in _OVERRIDES]
    if overrides:
        return min(overrides, key=("attention", "matmul", "network").index)
    if present & _NETWORK_KINDS or _is_network(chain, kinds):
        return "network"
    return next((family for kind, family in _PRIORITY if kind in present), "")


def _is_network(chain: Sequence[str], kinds: Sequence[str]) -> bool:
    convolutions = sum(kind in {"conv", "depthwise_conv"} for kind in kinds)
    if convolutions >= 2 and tuple(chain) != ("depthwise_conv2d", "pointwise_conv") and len(chain) > 3:
        return True
    preactivated = list(chain[:2]) == ["batch_norm", "relu"] and convolutions > 0
    return preactivated


def dominant_operation(chain: Sequence[str], lexicon: Lexicon) -> str | None:
    """Return the operation that costs most: composites, then recurrences, attention, convolutions, products, the
    rest.
    """
    order = ("network_block", *(kind for kind, _ in _PRIORITY))
    best: tuple[int, str] | None = None
    for name in chain:
        kind = lexicon.kind(name)
        rank = order.index(kind) if kind in order else len(order)
        if best is None or rank < best[0]:
            best = (rank, name)
    return best[1] if best else None
