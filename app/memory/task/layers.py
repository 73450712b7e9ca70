"""What each ``torch.nn`` layer does to a tensor: constructor arguments in, uses of the trace out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.memory.task import shapes
from app.memory.task.trace import Trace
from app.memory.task.values import UNKNOWN, Layer, Shape, Tensor, extents, integer

_CONV = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups", "bias")
_CONV_TRANSPOSE = (
    "in_channels", "out_channels", "kernel_size", "stride", "padding", "output_padding", "groups", "bias", "dilation",
)  # fmt: skip
_POOL = ("kernel_size", "stride", "padding")
_RECURRENT = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional")
_SIGNATURES: Mapping[str, tuple[str, ...]] = {
    "Linear": ("in_features", "out_features", "bias"),
    "GroupNorm": ("num_groups", "num_channels"),
    "LayerNorm": ("normalized_shape",),
    "RMSNorm": ("normalized_shape",),
    "LSTM": _RECURRENT,
    "GRU": _RECURRENT,
    "RNN": _RECURRENT,
    "RNNCell": ("input_size", "hidden_size"),
    "MultiheadAttention": ("embed_dim", "num_heads"),
    "TransformerEncoderLayer": ("d_model", "nhead", "dim_feedforward", "dropout", "activation"),
    "TransformerEncoder": ("encoder_layer", "num_layers"),
    "Softmax": ("dim",),
    "LogSoftmax": ("dim",),
    "GELU": ("approximate",),
    "Hardtanh": ("min_val", "max_val"),
    **{f"Conv{d}d": _CONV for d in (1, 2, 3)},
    **{f"ConvTranspose{d}d": _CONV_TRANSPOSE for d in (1, 2, 3)},
    **{f"{kind}Pool{d}d": _POOL for kind in ("Max", "Avg") for d in (1, 2, 3)},
    **{
        f"{kind}Norm{d}d": ("num_features", "eps", "momentum", "affine")
        for kind in ("Batch", "Instance")
        for d in (1, 2, 3)
    },
}
_POINTWISE: Mapping[str, str] = {
    "ReLU": "relu", "LeakyReLU": "leaky_relu", "ReLU6": "relu6", "ELU": "elu", "SELU": "selu", "Sigmoid": "sigmoid",
    "Tanh": "tanh", "SiLU": "swish", "Mish": "mish", "Hardswish": "hardswish", "Hardsigmoid": "hardsigmoid",
    "Hardtanh": "hardtanh", "Softplus": "softplus", "Softsign": "softsign", "Dropout": "dropout",
    "Dropout1d": "dropout", "Dropout2d": "dropout", "Dropout3d": "dropout",
}  # fmt: skip
_LOSSES: Mapping[str, str] = {
    "MSELoss": "mse_loss", "SmoothL1Loss": "smooth_l1_loss", "HuberLoss": "smooth_l1_loss", "KLDivLoss": "kl_div_loss",
    "CrossEntropyLoss": "cross_entropy_loss", "NLLLoss": "cross_entropy_loss",
    "TripletMarginLoss": "triplet_margin_loss",
    "CosineEmbeddingLoss": "cosine_similarity_loss", "HingeEmbeddingLoss": "hinge_loss",
}  # fmt: skip
_NORMS = {"BatchNorm": "batch_norm", "InstanceNorm": "instance_norm"}
_SILENT = frozenset({"Identity", "Flatten", "Unflatten", "ParameterList"})


def build(kind: str, positional: Sequence[Any], named: Mapping[str, Any]) -> Layer:
    """Return a layer with its arguments by name; surplus positional arguments are dropped."""
    arguments = dict(zip(_SIGNATURES.get(kind, ()), positional, strict=False))
    arguments.update(named)
    return Layer(kind, arguments)


def apply(layer: Layer, inputs: Sequence[Any], trace: Trace) -> Any:
    """Record what calling the layer does and return its value; unknown layers pass a tensor through."""
    tensor = next((value for value in inputs if isinstance(value, Tensor)), None)
    if tensor is None:
        return UNKNOWN
    kind = layer.kind
    if kind in _POINTWISE:
        return trace.record(_POINTWISE[kind], [tensor], tensor.shape, **_interval(kind, layer.arguments))
    if kind in _LOSSES:
        return trace.record(_LOSSES[kind], inputs, ())
    for stem, handler in _HANDLERS:
        if kind.startswith(stem):
            return handler(layer, tensor, trace)
    if kind == "Flatten" and tensor.shape:
        return trace.view(tensor, shapes.reshaped(tensor.shape, (tensor.shape[0], -1)))
    return tensor if kind in _SILENT else trace.tensor(tensor.shape)


def _interval(kind: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"low": arguments.get("min_val", -1), "high": arguments.get("max_val", 1)} if kind == "Hardtanh" else {}


def convolution_detail(dimensions: int, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return kernel, stride, padding, dilation (tuples of extents), groups and channels of a convolution."""
    kernel = extents(arguments.get("kernel_size"), dimensions, 0)
    padding = arguments.get("padding", 0)
    margins = tuple(size // 2 for size in kernel) if padding == "same" else extents(padding, dimensions, 0)
    return {
        "kernel": kernel,
        "stride": extents(arguments.get("stride", 1), dimensions, 1),
        "padding": margins,
        "dilation": extents(arguments.get("dilation", 1), dimensions, 1),
        "output_padding": extents(arguments.get("output_padding", 0), dimensions, 0),
        "groups": integer(arguments.get("groups", 1), 1),
        "in_channels": integer(arguments.get("in_channels"), 0),
        "out_channels": integer(arguments.get("out_channels"), 0),
    }


def record_convolution(
    dimensions: int, detail: dict[str, Any], tensor: Tensor, trace: Trace, transposed: bool
) -> Tensor:
    """Record a forward or transposed convolution under the most specific operation name."""
    shape = shapes.convolved(tensor.shape, dimensions, detail["out_channels"], detail, transposed)
    name = f"conv_transpose{dimensions}d" if transposed else f"conv{dimensions}d"
    if not transposed and dimensions == 2:
        depthwise = detail["groups"] > 1 and detail["groups"] == detail["in_channels"]
        if depthwise:
            name = "depthwise_conv2d"
        elif detail["kernel"] == (1, 1):
            name = "pointwise_conv"
    return trace.record(name, [tensor], shape, **detail)


def _conv(layer: Layer, tensor: Tensor, trace: Trace) -> Tensor:
    dimensions = int(layer.kind[-2])
    transposed = layer.kind.startswith("ConvTranspose")
    return record_convolution(dimensions, convolution_detail(dimensions, layer.arguments), tensor, trace, transposed)


def _linear(layer: Layer, tensor: Tensor, trace: Trace) -> Tensor:
    width = integer(layer.arguments.get("out_features"), 0)
    inner = integer(layer.arguments.get("in_features"), 0)
    shape: Shape = (*tensor.shape[:-1], width) if tensor.shape and width else None
    if not inner and tensor.shape:
        inner = tensor.shape[-1]
    return trace.record("linear", [tensor], shape, inner=inner, width=width, layout="nt")


def _pool(layer: Layer, tensor: Tensor, trace: Trace) -> Tensor:
    dimensions = int(layer.kind[-2])
    name = ("max_pool" if layer.kind.startswith("Max") else "avg_pool") + f"{dimensions}d"
    arguments = layer.arguments
    kernel, stride = arguments.get("kernel_size", 2), arguments.get("stride")
    shape = shapes.pooled(tensor.shape, dimensions, kernel, stride, arguments.get("padding", 0))
    return trace.record(name, [tensor], shape, kernel=extents(kernel, dimensions, 2))


def _adaptive_pool(layer: Layer, tensor: Tensor, trace: Trace) -> Tensor:
    dimensions = int(layer.kind[-2])
    size = extents(next(iter(layer.arguments.values()), 1), dimensions, 1)
    shape: Shape = (*tensor.shape[:-dimensions], *size) if tensor.shape else None
    if all(extent == 1 for extent in size):
        axes = tuple(range(-dimensions, 0))
        return trace.record("global_avg_pool", [tensor], shape, axes=axes)
    return trace.record(f"avg_pool{dimensions}d", [tensor], shape, kernel=())


def _norm(layer: Layer, tensor: Tensor, trace: Trace) -> Tensor:
    return trace.record(_NORMS[layer.kind[:-2]], [tensor], tensor.shape)


def _group_norm(layer: Layer, tensor: Tensor, trace: Trace) -> Tensor:
    groups = integer(layer.arguments.get("num_groups"), 0)
    channels = integer(layer.arguments.get("num_channels"), 0)
    return trace.record("group_norm", [tensor], tensor.shape, groups=groups, channels=channels)


def _row_norm(layer: Layer, tensor: Tensor, trace: Trace) -> Tensor:
    name = "layer_norm" if layer.kind == "LayerNorm" else "rms_norm"
    shape = layer.arguments.get("normalized_shape")
    return trace.record(
        name, [tensor], tensor.shape, normalized=shape if isinstance(shape, (tuple, list)) else (shape,)
    )


def _recurrent(layer: Layer, tensor: Tensor, trace: Trace) -> Any:
    arguments = layer.arguments
    name = {"LSTM": "lstm", "GRU": "gru", "RNN": "vanilla_rnn", "RNNCell": "rnn_cell"}.get(layer.kind, "vanilla_rnn")
    hidden, depth = integer(arguments.get("hidden_size"), 0), integer(arguments.get("num_layers", 1), 1)
    both = 2 if arguments.get("bidirectional") is True else 1
    shape: Shape = (*tensor.shape[:-1], hidden * both) if tensor.shape else None
    output = trace.record(name, [tensor], shape, hidden=hidden, layers=depth, bidirectional=both == 2)
    if layer.kind == "RNNCell":
        return output
    state = trace.record("~state", [output], None)
    return (output, (state, trace.record("~state", [output], None)) if layer.kind == "LSTM" else state)


def _attention(layer: Layer, tensor: Tensor, trace: Trace) -> Any:
    heads = integer(layer.arguments.get("num_heads"), 0)
    return (trace.record("multi_head_attention", [tensor], tensor.shape, heads=heads), UNKNOWN)


def _encoder(layer: Layer, tensor: Tensor, trace: Trace) -> Tensor:
    inner = layer.arguments.get("encoder_layer")
    single = inner if isinstance(inner, Layer) else layer
    activation = "gelu" if single.arguments.get("activation") == "gelu" else "relu"
    depth = integer(layer.arguments.get("num_layers", 1), 1) if layer.kind == "TransformerEncoder" else 1
    for _ in range(min(depth, 32)):
        mixed = trace.record("multi_head_attention", [tensor], tensor.shape)
        tensor = trace.record("layer_norm", [trace.record("residual_add", [tensor, mixed], tensor.shape)], tensor.shape)
        inner_shape = trace.record("linear", [tensor], tensor.shape, inner=0, width=0, layout="nt")
        wide = trace.record(activation, [inner_shape], tensor.shape)
        narrow = trace.record("linear", [wide], tensor.shape, inner=0, width=0, layout="nt")
        tensor = trace.record(
            "layer_norm", [trace.record("residual_add", [tensor, narrow], tensor.shape)], tensor.shape
        )
    return tensor


def _softmax(layer: Layer, tensor: Tensor, trace: Trace) -> Tensor:
    name = "log_softmax" if layer.kind == "LogSoftmax" else "softmax"
    return trace.record(name, [tensor], tensor.shape, axes=(integer(layer.arguments.get("dim"), -1),))


def _gelu(layer: Layer, tensor: Tensor, trace: Trace) -> Tensor:
    name = "gelu_tanh" if layer.arguments.get("approximate") == "tanh" else "gelu"
    return trace.record(name, [tensor], tensor.shape)


_Handler = Callable[[Layer, Tensor, Trace], Any]
_HANDLERS: tuple[tuple[str, _Handler], ...] = (
    ("Conv", _conv), ("Linear", _linear), ("LazyLinear", _linear), ("MaxPool", _pool), ("AvgPool", _pool),
    ("AdaptiveAvgPool", _adaptive_pool), ("AdaptiveMaxPool", _adaptive_pool), ("BatchNorm", _norm),
    ("InstanceNorm", _norm), ("GroupNorm", _group_norm), ("LayerNorm", _row_norm), ("RMSNorm", _row_norm),
    ("LSTM", _recurrent), ("GRU", _recurrent), ("RNN", _recurrent), ("MultiheadAttention", _attention),
    ("TransformerEncoder", _encoder), ("Softmax", _softmax), ("LogSoftmax", _softmax), ("GELU", _gelu),
)  # fmt: skip
