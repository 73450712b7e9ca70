"""Derives regimes (stride, batch size, reduction axis, skinny or huge dimensions ...) from the operations of a task.

Each rule answers True, False or nothing: a regime that cannot be told from the task stays unknown, which ranking treats
differently from a regime known to be false. Thresholds restate the definitions of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import prod

from app.memory.lexicon import Lexicon
from app.memory.task.profile import OperationUse, Shape

_LINEAR_STEPS = frozenset({"scalar_multiply", "scalar_add", "bias_add", "channel_scale", "dropout", "residual_add"})
_LINEAR_REDUCTIONS = frozenset({"sum_reduce", "mean_reduce", "avg_pool1d", "global_avg_pool"})
_MONOTONE = frozenset({"relu", "leaky_relu", "relu6", "elu", "selu", "sigmoid", "tanh", "hardsigmoid", "hardtanh",
                       "clamp",
                       "softplus", "softsign", "bias_add", "scalar_add", "elementwise_minmax"})  # fmt: skip
_NONMONOTONE = frozenset({"gelu", "gelu_tanh", "swish", "mish", "hardswish"})
_CONV_KINDS = frozenset({"conv", "conv_transpose", "depthwise_conv"})
_GEMM_KINDS = frozenset({"gemm", "special_matrix"})
LARGE_OUTPUT_BYTES = 200_000_000
HUGE_ELEMENTS = 2**27  # within a factor 16 of 32-bit indices

Found = Iterator[tuple[str, bool]]


def derive_regimes(uses: Sequence[OperationUse], shapes: Sequence[Shape], lexicon: Lexicon) -> dict[str, bool]:
    """Return regime -> holds for all that the operations and input shapes tell."""
    found: dict[str, bool] = {}
    for rule in _RULES:
        for regime, holds in rule(uses, shapes, lexicon):
            found.setdefault(regime, holds)
    return found


def _of_kind(uses: Sequence[OperationUse], kinds: frozenset[str], lexicon: Lexicon) -> list[OperationUse]:
    return [use for use in uses if lexicon.kind(use.name) in kinds]


def _batch(uses: Sequence[OperationUse], shapes: Sequence[Shape], lexicon: Lexicon) -> Found:
    if shapes and len(shapes[0]) >= 2:
        batch = shapes[0][0]
        yield "small_batch", batch <= 16
        yield "large_batch", batch >= 100


def _convolution(uses: Sequence[OperationUse], shapes: Sequence[Shape], lexicon: Lexicon) -> Found:
    convolutions = _of_kind(uses, _CONV_KINDS, lexicon)
    if not convolutions:
        return
    main = convolutions[0].detail
    if stride := main.get("stride"):
        yield "strided", max(stride) > 1
        yield "stride_1", max(stride) == 1
    if dilation := main.get("dilation"):
        yield "dilated", max(dilation) > 1
    if kernel := main.get("kernel"):
        yield "asymmetric_kernel", len(set(kernel)) > 1
        yield "square_kernel", len(set(kernel)) == 1
    if "groups" in main:
        yield "grouped", main["groups"] > 1
    if output_padding := main.get("output_padding"):
        yield "output_padding", max(output_padding) > 0
    yield from _convolution_cost(convolutions[0])


def _convolution_cost(use: OperationUse) -> Found:
    detail = use.detail
    inner, outer, kernel = detail.get("in_channels", 0), detail.get("out_channels", 0), detail.get("kernel", ())
    if inner and outer:
        yield "few_channels", min(inner, outer) <= 16
        yield "many_channels", max(inner, outer) >= 64
    if inner and kernel and prod(kernel):
        work = inner * prod(kernel) // max(detail.get("groups", 1), 1)
        yield "cheap_conv", work < 250
        yield "conv_dominated", work >= 400


def _product(uses: Sequence[OperationUse], shapes: Sequence[Shape], lexicon: Lexicon) -> Found:
    products = _of_kind(uses, _GEMM_KINDS, lexicon)
    if not products:
        return
    main = products[0]
    layout = main.detail.get("layout") or ("nt" if main.name == "linear" else None)
    if layout:
        for name in ("nn", "tn", "nt", "tt"):
            yield f"{name}_layout", layout == name
    if main.name in {"tensor3d_matmul", "tensor4d_matmul"}:
        yield "shared_rhs", True
    if main.name in {"triangular_matmul", "structured_sparse_matmul"}:
        yield "structural_zeros", True
    rows, inner, width = main.detail.get("rows", 0), main.detail.get("inner", 0), main.detail.get("width", 0)
    if rows and inner and width:
        yield "large_dense", min(rows, inner, width) >= 1000
        skinny = rows <= 256 and inner >= 8192 and width >= 4096
        yield "skinny_m", skinny
        yield "weight_bandwidth_bound", skinny
    if inner:
        yield "huge_k", inner >= 16384
    if width:
        yield "huge_n", width >= 16384
    if inner and width:
        yield "gemm_dominated", min(inner, width) >= 1000


def _epilogue(uses: Sequence[OperationUse], shapes: Sequence[Shape], lexicon: Lexicon) -> Found:
    heavy = _of_kind(uses, _CONV_KINDS | _GEMM_KINDS | {"recurrence", "attention"}, lexicon)
    composite = _of_kind(uses, frozenset({"network_block"}), lexicon)
    if composite:
        yield "no_epilogue", False
    if not uses or composite:
        return
    yield "no_epilogue", len(uses) == 1 and bool(heavy)
    yield "standalone_op", not heavy
    elementwise = _of_kind(uses, frozenset({"elementwise"}), lexicon)
    yield "single_activation", len(elementwise) == 1
    yield "short_chain", len(elementwise) == 2
    yield "long_chain", len(elementwise) >= 3
    if not heavy:
        yield "memory_bound", True


def _reductions(uses: Sequence[OperationUse], shapes: Sequence[Shape], lexicon: Lexicon) -> Found:
    heavy = next((use for use in uses if lexicon.kind(use.name) in _CONV_KINDS | _GEMM_KINDS), None)
    collapsing = [
        use for use in uses if lexicon.kind(use.name) in {"reduction", "softmax"} or use.name == "global_avg_pool"
    ]
    if heavy is None:
        return
    over_features = lexicon.kind(heavy.name) in _GEMM_KINDS
    for use in collapsing:
        if over_features:
            yield "reduction_over_features", True
            continue
        axes = use.detail.get("axes")
        if use.name == "global_avg_pool" or (axes and min(axes) >= 2):
            yield "spatial_reduction", True
        elif axes == (1,) or (axes is None and lexicon.kind(use.name) != "softmax" and use.name != "mean_reduce"):
            yield "reduction_over_channels", True
    if over_features:
        yield from _linear_reduction(uses, lexicon)


def _linear_reduction(uses: Sequence[OperationUse], lexicon: Lexicon) -> Found:
    after = False
    nonlinear = False
    for use in uses:
        kind = lexicon.kind(use.name)
        if kind in _GEMM_KINDS:
            after, nonlinear = True, False
        elif after and use.name in _LINEAR_REDUCTIONS:
            yield "linear_reduction", not nonlinear
            yield "nonlinear_before_reduction", nonlinear
            return
        elif after and kind == "reduction":
            yield "nonlinear_before_reduction", True
            yield "linear_reduction", False
            return
        elif use.name not in _LINEAR_STEPS:
            nonlinear = True


def _degenerate(uses: Sequence[OperationUse], shapes: Sequence[Shape], lexicon: Lexicon) -> Found:
    collapsed = False
    for use in uses:
        if lexicon.kind(use.name) == "reduction":
            if collapsed:
                yield "degenerate_reduction", True
            collapsed = True


def _pools(uses: Sequence[OperationUse], shapes: Sequence[Shape], lexicon: Lexicon) -> Found:
    names = [use.name for use in uses]
    pools = [i for i, use in enumerate(uses) if lexicon.kind(use.name) == "pooling"]
    if not pools:
        return
    yield "double_pool", any(after - before == 1 for before, after in pairwise(pools))
    nonlinear = [i for i, use in enumerate(uses) if use.name in _MONOTONE - {"bias_add", "scalar_add"} | _NONMONOTONE
                 or lexicon.kind(use.name) in {"softmax", "normalisation"}]  # fmt: skip
    if nonlinear:
        yield "pool_after_activation", any(i < pools[0] for i in nonlinear)
        yield "pool_before_activation", all(i > pools[0] for i in nonlinear)
    if any(name.startswith("max_pool") or name in {"max_reduce", "min_reduce"} for name in names):
        before = names[: pools[0]]
        yield "nonmonotone_chain", any(name in _NONMONOTONE for name in before)
        yield (
            "monotone_chain",
            any(name in _MONOTONE for name in before) and not any(name in _NONMONOTONE for name in before),
        )


def _norms(uses: Sequence[OperationUse], shapes: Sequence[Shape], lexicon: Lexicon) -> Found:
    names = {use.name for use in uses}
    if "batch_norm" in names:
        yield "train_mode_norm", True
        yield "eval_mode_norm", False
    for use in uses:
        groups, channels = use.detail.get("groups", 0), use.detail.get("channels", 0)
        if use.name == "group_norm" and groups and channels:
            yield "small_groups", channels // groups <= 64
    if shapes and shapes[0] and uses and lexicon.kind(uses[0].name) in {"normalisation", "reduction", "softmax"}:
        rows, numel = shapes[0][0], prod(shapes[0])
        if uses[0].name in {"layer_norm", "frobenius_norm"} or len(shapes[0]) == 2:
            length = numel // max(rows, 1)
            yield "few_long_rows", rows <= 1024 and length >= 50_000
            yield "many_short_rows", length <= 1024 and rows >= 10_000


def _recurrences(uses: Sequence[OperationUse], shapes: Sequence[Shape], lexicon: Lexicon) -> Found:
    for use in _of_kind(uses, frozenset({"recurrence"}), lexicon):
        yield "single_step", use.name == "rnn_cell"
        yield "time_loop", use.name != "rnn_cell"
        if layers := use.detail.get("layers"):
            yield "multi_layer", layers > 1
            yield "bidirectional", bool(use.detail.get("bidirectional"))
        if hidden := use.detail.get("hidden"):
            yield "small_hidden", hidden <= 512


def _size(uses: Sequence[OperationUse], shapes: Sequence[Shape], lexicon: Lexicon) -> Found:
    heavy = [use for use in uses if lexicon.kind(use.name) in _CONV_KINDS]
    outputs = [use.detail["elements"] for use in heavy if use.detail.get("elements")]
    if outputs:
        yield "large_output", max(outputs) * 4 >= LARGE_OUTPUT_BYTES
    largest = max([*outputs, *(prod(shape) for shape in shapes)], default=0)
    if largest:
        yield "huge_numel", largest >= HUGE_ELEMENTS
    if shapes and len(shapes[0]) == 4:
        yield "small_feature_map", max(shapes[0][2:]) <= 32
    if sum(use.name == "concat" for use in uses) >= 3:
        yield "concat_heavy", True


_USUAL = {
    "gemm": ("large_dense", "gemm_dominated", "large_batch"),
    "conv_transpose": ("square_kernel",),
    "conv": ("stride_1", "square_kernel", "large_output"),
    "depthwise_conv": ("stride_1", "memory_bound"),
    "network_block": ("small_batch", "many_layers", "launch_bound"),
}  # fmt: skip
_USUAL_NAMES = {"linear": ("nt_layout",), "matmul": ("nn_layout",), "gru": ("multi_layer", "small_batch"),
                "lstm": ("multi_layer", "small_batch"),
                "vanilla_rnn": ("small_batch", "small_hidden")}  # fmt: skip


def usual_regimes(uses: Sequence[OperationUse], known: Mapping[str, bool], lexicon: Lexicon) -> frozenset[str]:
    """Return regimes that a terse note leaves out but that usually hold for its costliest operation."""
    found: list[str] = []
    for use in uses:
        found += _USUAL_NAMES.get(use.name, ())
        found += _USUAL.get(lexicon.kind(use.name), ())
    if len(uses) > 1 and any(use.name == "conv_transpose3d" for use in uses):
        found.append("strided")
    blocks = any(lexicon.kind(use.name) == "network_block" for use in uses)
    kept = [regime for regime in found if not blocks or regime in _USUAL["network_block"]]
    return frozenset(regime for regime in kept if regime not in known)


_RULES: tuple[Callable[[Sequence[OperationUse], Sequence[Shape], Lexicon], Found], ...] = (
    _batch, _convolution, _product, _epilogue, _reductions, _degenerate, _pools, _norms, _recurrences, _size,
)  # fmt: skip
