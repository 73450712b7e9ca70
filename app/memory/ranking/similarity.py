"""How far one operation stands for another, from their kinds: one symmetric table in [0, 1], built once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from app.memory.lexicon import Lexicon, load_lexicon

Vector = NDArray[np.float32]

# Within a kind: pointwise maps are interchangeable in a fused pass; normalisations, pools and reductions much less so.
_WITHIN_KIND: Mapping[str, float] = {
    "elementwise": 0.75, "normalisation": 0.35, "pooling": 0.35, "reduction": 0.6, "softmax": 0.8, "gemm": 0.4,
    "special_matrix": 0.3, "conv": 0.8, "conv_transpose": 0.9, "depthwise_conv": 0.8, "recurrence": 0.6,
    "attention": 0.65,
    "scan": 0.5, "loss": 0.5, "network_block": 0.2, "indexing": 0.3, "layout": 0.3,
}  # fmt: skip
_BETWEEN_KINDS: Mapping[tuple[str, str], float] = {
    ("conv", "conv_transpose"): 0.55, ("conv", "depthwise_conv"): 0.35, ("softmax", "reduction"): 0.5,
    ("normalisation", "reduction"): 0.3, ("pooling", "reduction"): 0.35, ("normalisation", "softmax"): 0.25,
    ("special_matrix", "gemm"): 0.35, ("attention", "softmax"): 0.2, ("loss", "reduction"): 0.4,
}  # fmt: skip
_PAIRS: Mapping[tuple[str, str], float] = {
    ("linear", "matmul"): 0.8, ("linear", "matmul_transposed_b"): 0.85, ("linear", "mlp"): 0.7,
    ("logsumexp", "softmax"): 0.7, ("logsumexp", "max_reduce"): 0.65, ("min_reduce", "max_reduce"): 0.9,
    ("sum_reduce", "mean_reduce"): 0.9, ("mean_reduce", "global_avg_pool"): 0.85, ("sum_reduce",
    "global_avg_pool"): 0.6,
    ("avg_pool1d", "mean_reduce"): 0.6, ("swish", "mish"): 0.9, ("gelu", "swish"): 0.8, ("gelu", "gelu_tanh"): 0.8,
    ("swish", "hardswish"): 0.8, ("clamp", "hardtanh"): 0.95, ("relu", "relu6"): 0.9, ("relu", "leaky_relu"): 0.9,
    ("scalar_multiply", "channel_scale"): 0.75, ("scalar_add", "bias_add"): 0.8, ("group_norm", "instance_norm"): 0.6,
    ("group_norm", "layer_norm"): 0.5, ("instance_norm", "layer_norm"): 0.5, ("softmax", "log_softmax"): 0.95,
    ("batch_norm", "instance_norm"): 0.4, ("batch_norm", "channel_scale"): 0.5, ("batch_norm",
    "scalar_multiply"): 0.4, ("batch_norm", "bias_add"): 0.4, ("lstm", "gru"): 0.75,
    ("max_pool2d", "max_pool3d"): 0.92, ("avg_pool2d", "avg_pool3d"): 0.92, ("avg_pool3d", "global_avg_pool"): 0.5,
    ("avg_pool2d", "global_avg_pool"): 0.5, ("conv2d", "pointwise_conv"): 0.8, ("conv2d", "conv3d"): 0.92,
    ("layer_norm", "rms_norm"): 0.8, ("causal_attention", "scaled_dot_product_attention"): 0.9,
    ("causal_attention", "relu_attention"): 0.85, ("causal_attention", "multi_head_attention"): 0.75,
    ("multi_head_attention", "scaled_dot_product_attention"): 0.85, ("multi_head_attention", "window_attention"): 0.6,
    ("transformer_block", "multi_head_attention"): 0.5, ("transformer_block", "causal_attention"): 0.5,
    ("conv_bn_relu_stack", "residual_block"): 0.7, ("conv_bn_relu_stack", "plain_cnn"): 0.6,
    ("conv_bn_relu_stack", "depthwise_separable_block"): 0.6, ("inverted_residual_block",
    "depthwise_separable_block"): 0.75,
    ("inverted_residual_block", "squeeze_excite"): 0.8, ("plain_cnn", "residual_block"): 0.5,
    ("inception_module", "fire_module"): 0.7, ("dense_block", "inception_module"): 0.5, ("residual_block",
    "inverted_residual_block"): 0.6,
    ("shuffle_unit", "inverted_residual_block"): 0.65, ("rnn_cell", "vanilla_rnn"): 0.6, ("vanilla_rnn", "gru"): 0.6,
    ("cumsum", "reverse_cumsum"): 0.95, ("cumsum", "exclusive_cumsum"): 0.95, ("cumsum", "masked_cumsum"): 0.95,
    ("spatial_mlp", "transformer_block"): 0.6, ("window_attention", "transformer_block"): 0.6,
}  # fmt: skip
WEIGHTS: Mapping[str, float] = {
    "normalisation": 1.0, "pooling": 1.0, "reduction": 1.0, "softmax": 1.0, "special_matrix": 1.2, "recurrence": 1.4,
    "attention": 1.2, "network_block": 1.2, "scan": 1.0, "loss": 1.0, "gemm": 0.5, "conv": 0.5, "conv_transpose": 0.5,
    "depthwise_conv": 1.2, "elementwise": 0.35, "indexing": 0.1, "layout": 0.25,
}  # fmt: skip
_IMAGE_NETWORKS = frozenset(
    {"conv_bn_relu_stack", "plain_cnn", "residual_block", "depthwise_separable_block", "inverted_residual_block",
     "squeeze_excite", "dense_block", "shuffle_unit", "inception_module", "fire_module", "unet_block"}
)  # fmt: skip
HEAVY = frozenset({"conv", "conv_transpose", "gemm", "depthwise_conv"})
LIGHT = frozenset(
    {"scalar_multiply", "scalar_add", "bias_add", "residual_add", "dropout", "elementwise_multiply", "channel_scale"}
)


class Table:
    """Operations by number, their weights, and the similarity between any two."""

    def __init__(self, lexicon: Lexicon) -> None:
        """Compute the table for a vocabulary."""
        self.lexicon = lexicon
        self.names = tuple(lexicon.operations)
        self.number: Mapping[str, int] = {name: index for index, name in enumerate(self.names)}
        self.members = [[self.number[m] for m in lexicon.members(name)] for name in self.names]
        self.kinds = np.array([lexicon.kind(name) for name in self.names])
        self.stands_for = np.zeros(
            (len(self.names), len(self.names)), dtype=np.float32
        )  # 1 where a term stands for an operation
        for number, members in enumerate(self.members):
            self.stands_for[number, members] = 1.0
        self.weight: Vector = np.array([_weight(lexicon, name) for name in self.names], dtype=np.float32)
        self.heavy = np.isin(self.kinds, list(HEAVY))
        self.blocks = np.array([lexicon.kind(name) == "network_block" for name in self.names])
        # terms that name one operation apart from the costly ones and the light steps: sharing one is no accident
        self.telling = np.array([_is_telling(lexicon, name) for name in self.names])
        self.similar: NDArray[np.float32] = self._similarities()

    def _similarities(self) -> NDArray[np.float32]:
        size = len(self.names)
        table = np.zeros((size, size), dtype=np.float32)
        plain = [name for name in self.names if not self.lexicon.operations[name].is_set]
        for left in plain:
            for right in plain:
                table[self.number[left], self.number[right]] = _pair(self.lexicon, left, right)
        for name in self.names:  # a set term stands for each member, and is as near to others as its nearest member
            if self.lexicon.operations[name].is_set:
                rows = table[self.members[self.number[name]]]
                table[self.number[name], :] = rows.max(axis=0)
        for name in self.names:
            if self.lexicon.operations[name].is_set:
                table[:, self.number[name]] = table[self.number[name], :]
                table[self.number[name], self.number[name]] = 1.0
        return table

    def presence(self, certainties: Iterable[tuple[str, float]]) -> Vector:
        """Return for every term how far a task with these operations contains it: 1 exactly, less for something
        similar.
        """
        found = np.zeros(len(self.names), dtype=np.float32)
        for name, certainty in certainties:
            np.maximum(found, self.similar[:, self.number[name]] * np.float32(certainty), out=found)
        return found


def _weight(lexicon: Lexicon, name: str) -> float:
    return 0.15 if name in LIGHT else WEIGHTS.get(lexicon.kind(name), 0.3)


def _is_telling(lexicon: Lexicon, name: str) -> bool:
    plain = not lexicon.operations[name].is_set and name not in LIGHT
    return plain and lexicon.kind(name) not in {"gemm", "conv", "conv_transpose", "indexing", "layout"}


def _pair(lexicon: Lexicon, left: str, right: str) -> float:
    if left == right:
        return 1.0
    direct = max(_PAIRS.get((left, right), 0.0), _PAIRS.get((right, left), 0.0))
    if direct:
        return direct
    kinds = (lexicon.kind(left), lexicon.kind(right))
    if kinds[0] == kinds[1]:
        if kinds[0] == "network_block" and _IMAGE_NETWORKS.issuperset((left, right)):
            return 0.45
        return _WITHIN_KIND.get(kinds[0], 0.3)
    return max(_BETWEEN_KINDS.get(kinds, 0.0), _BETWEEN_KINDS.get(kinds[::-1], 0.0))


@cache
def similarity_table() -> Table:
    """Return the table of the shipped vocabulary."""
    return Table(load_lexicon())
