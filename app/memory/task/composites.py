"""Names the blocks a traced network is built from: residual blocks, inverted residuals, recurrences, state-space
scans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from app.memory.task.trace import Use

_CONVOLUTIONS = frozenset({"conv1d", "conv2d", "conv3d", "pointwise_conv", "depthwise_conv2d"})
_ATTENTIONS = frozenset(
    {"scaled_dot_product_attention", "causal_attention", "multi_head_attention", "window_attention", "relu_attention"}
)
_QUIET = frozenset({"dropout", "transpose", "pad", "roll", "slice_last"})


def composites(uses: Sequence[Use], raw: Sequence[Use]) -> tuple[str, ...]:
    """Return the composite operations found, most telling first; empty for a plain chain.

    `uses` is the recognised trace, `raw` the trace before recognition (it still shows exponentials and the like).
    """
    names = [use.operation for use in uses if use.operation not in _QUIET]
    count = Counter(names)
    raw_count = Counter(use.operation for use in raw)
    return tuple(name for name, holds in _RULES if holds(names, count, raw_count, uses))


def contains(names: Sequence[str], *wanted: str) -> bool:
    """Whether `names` holds the wanted names as a contiguous run."""
    size = len(wanted)
    return any(tuple(names[i : i + size]) == wanted for i in range(len(names) - size + 1))


def _convolutions(count: Counter[str]) -> int:
    return sum(count[name] for name in _CONVOLUTIONS)


_Names = Sequence[str]
_Uses = Sequence[Use]
_Count = Counter[str]


def _ssd(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    return raw["cumsum"] >= 1 and raw["~exp"] >= 1 and count["einsum_contraction"] >= 2


def _netvlad(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    gemm = count["matmul"] + count["linear"] > 0
    return (
        gemm
        and count["softmax"] > 0
        and count["l2_norm"] > 0
        and count["batched_matmul"] + count["einsum_contraction"] > 0
    )


def _steps(names: _Names) -> int:
    return sum(contains(names[i : i + 3], "concat", "linear", "tanh") for i in range(len(names) - 2))


def _rnn_cell(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    return _steps(names) == 1 and len(names) <= 6


def _vanilla_rnn(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    return _steps(names) > 1 or (count["tanh"] >= 4 and count["linear"] >= 8 and not _convolutions(count))


def _transformer(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    attention = any(count[name] for name in _ATTENTIONS)
    return bool(attention and count["layer_norm"] and count["residual_add"] and count["linear"] >= 2)


def _spatial_mlp(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    grouped = any(use.operation == "conv1d" and use.detail.get("groups", 1) > 1 for use in uses)
    return grouped and count["layer_norm"] > 0


def _unet(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    return bool(count["conv_transpose2d"] and count["concat"] and count["max_pool2d"])


def _shuffle(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    return count["channel_shuffle"] > 0


def _dense(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    return (
        count["concat"] >= 3 and contains(names, "batch_norm", "relu", "conv2d") and contains(names, "conv2d", "concat")
    )


def _fire(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    return contains(names, "pointwise_conv", "relu", "pointwise_conv", "relu", "conv2d", "relu", "concat")


def _inception(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    wide = any(use.operation == "concat" and use.detail.get("parts", 0) >= 3 for use in uses)
    return wide and _convolutions(count) >= 4 and not _dense(names, count, raw, uses) and not count["layer_norm"]


def _squeeze_excite(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    for mix in ("pointwise_conv", "linear"):
        for pool in ("global_avg_pool", "mean_reduce"):
            if contains(names, pool, mix, "relu", mix, "sigmoid"):
                return True
    return False


def _inverted(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    """A widening per-pixel mix, a per-channel filter and a narrowing mix, norms and activations aside."""
    mixes = [use for use in uses if use.operation in {"pointwise_conv", "depthwise_conv2d"}]
    for first, middle, last in zip(mixes, mixes[1:], mixes[2:], strict=False):
        kinds = (first.operation, middle.operation, last.operation)
        widens = first.detail["out_channels"] > first.detail["in_channels"]
        narrows = last.detail["out_channels"] < last.detail["in_channels"]
        if kinds == ("pointwise_conv", "depthwise_conv2d", "pointwise_conv") and widens and narrows:
            return not count["channel_shuffle"]
    return False


def _separable(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    repeated = count["depthwise_conv2d"] >= 3 and count["pointwise_conv"] >= 3
    return repeated and abs(count["depthwise_conv2d"] - count["pointwise_conv"]) <= 1


def _residual(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    deep = _convolutions(count) >= 2 and count["batch_norm"] >= 2 and count["residual_add"] >= 1
    return deep and not count["depthwise_conv2d"] and not count["concat"]


def _stack(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    pairs = sum(contains(names[i : i + 3], "conv2d", "batch_norm", "relu") for i in range(len(names) - 2))
    return pairs >= 2 and not count["depthwise_conv2d"] and not count["residual_add"] and not count["concat"]


def _plain(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    layered = _convolutions(count) >= 2 and count["max_pool2d"] > 0 and count["linear"] >= 2
    return layered and not count["batch_norm"] and not count["residual_add"] and not count["concat"]


def _mlp(names: _Names, count: _Count, raw: _Count, uses: _Uses) -> bool:
    return (
        count["linear"] >= 3
        and count["relu"] + count["gelu"] + count["tanh"] >= 2
        and set(names) <= {"linear", "relu", "gelu", "tanh"}
    )


_RULES: tuple[tuple[str, Callable[[_Names, _Count, _Count, _Uses], bool]], ...] = (
    ("ssd_scan", _ssd), ("netvlad", _netvlad), ("rnn_cell", _rnn_cell), ("vanilla_rnn", _vanilla_rnn),
    ("spatial_mlp", _spatial_mlp), ("transformer_block", _transformer), ("unet_block", _unet), ("shuffle_unit",
    _shuffle),
    ("dense_block", _dense), ("fire_module", _fire), ("inception_module", _inception), ("squeeze_excite",
    _squeeze_excite),
    ("inverted_residual_block", _inverted), ("depthwise_separable_block", _separable), ("residual_block", _residual),
    ("conv_bn_relu_stack", _stack), ("plain_cnn", _plain), ("mlp", _mlp),
)  # fmt: skip
