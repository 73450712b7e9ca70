"""What functions and tensor methods do: ``torch.x``, ``torch.nn.functional.x`` and ``tensor.x`` share one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.memory.task import arithmetic, layers, layout, shapes
from app.memory.task.trace import Trace
from app.memory.task.values import UNKNOWN, Shape, Tensor, integer

_POINTWISE: Mapping[str, str] = {
    "relu": "relu", "relu_": "relu", "leaky_relu": "leaky_relu", "relu6": "relu6", "elu": "elu", "selu": "selu",
    "sigmoid": "sigmoid", "tanh": "tanh", "silu": "swish", "mish": "mish", "hardswish": "hardswish",
    "hardsigmoid": "hardsigmoid", "softplus": "softplus", "softsign": "softsign", "dropout": "dropout",
    "dropout2d": "dropout", "logsigmoid": "sigmoid", "threshold": "relu",
    "exp": "~exp", "exp_": "~exp", "log": "~log", "log1p": "~log", "log2": "~log", "sqrt": "~sqrt", "rsqrt": "~rsqrt",
    "abs": "~abs", "erf": "~erf", "square": "~square", "sign": "~sign", "neg": "~neg", "reciprocal": "~reciprocal",
}  # fmt: skip
_REDUCTIONS: Mapping[str, str] = {
    "sum": "sum_reduce", "mean": "mean_reduce", "amax": "max_reduce", "amin": "min_reduce", "argmax": "argmax",
    "argmin": "argmin", "prod": "prod_reduce", "logsumexp": "logsumexp", "norm": "~norm", "var": "~var", "std": "~std",
    "max": "max_reduce", "min": "min_reduce",
}  # fmt: skip
_LOSSES: Mapping[str, str] = {
    "mse_loss": "mse_loss", "smooth_l1_loss": "smooth_l1_loss", "huber_loss": "smooth_l1_loss",
    "cross_entropy": "cross_entropy_loss", "nll_loss": "cross_entropy_loss", "kl_div": "kl_div_loss",
    "triplet_margin_loss": "triplet_margin_loss", "cosine_similarity": "cosine_similarity_loss",
}  # fmt: skip
_CREATED = frozenset(
    {
        "rand",
        "randn",
        "zeros",
        "ones",
        "empty",
        "full",
        "randint",
        "tensor",
        "arange",
        "linspace",
        "eye",
        "randperm",
        "as_tensor",
    }
)
_LIKE = frozenset({"zeros_like", "ones_like", "empty_like", "rand_like", "randn_like", "full_like"})

Arguments = Mapping[str, Any]


def call(name: str, inputs: Sequence[Any], named: Arguments, trace: Trace) -> Any:
    """Record one call by the last component of its name and return its value; `UNKNOWN` if it is not followed."""
    if name in _CREATED:
        return _created(name, inputs, named, trace)
    first = inputs[0] if inputs else named.get("input", UNKNOWN)
    if isinstance(first, (tuple, list)) and name in {"cat", "concat", "concatenate", "stack", "hstack", "vstack"}:
        return _joined(first, inputs, named, trace)
    if name == "einsum":
        return _einsum(inputs, trace)
    if not isinstance(first, Tensor):
        return _without_tensor(name, inputs, trace)
    rest = tuple(inputs[1:])
    if name in _POINTWISE:
        return trace.record(_POINTWISE[name], [first], first.shape)
    if name in _LOSSES:
        return trace.record(_LOSSES[name], inputs, ())
    if name in _LIKE:
        return trace.tensor(first.shape, "constant")
    if name in _REDUCTIONS:
        return _reduction(name, first, rest, named, trace)
    if name in _HANDLERS:
        return _HANDLERS[name](first, rest, named, trace)
    if (handled := _dimensioned(name, first, rest, named, trace)) is not UNKNOWN:
        return handled
    return layout.call(name, first, rest, named, trace)


def _without_tensor(name: str, inputs: Sequence[Any], trace: Trace) -> Any:
    tensor = next((value for value in inputs if isinstance(value, Tensor)), None)
    return UNKNOWN if tensor is None else trace.record("~" + name, inputs, tensor.shape)


def _created(name: str, inputs: Sequence[Any], named: Arguments, trace: Trace) -> Tensor:
    if name == "tensor":
        value = inputs[0] if inputs else UNKNOWN
        return trace.tensor((len(value),) if isinstance(value, (list, tuple)) else (), "constant")
    if name in {"arange", "linspace", "randperm"}:
        return trace.tensor(None, "constant")
    candidates = [value for value in (*inputs, named.get("size")) if isinstance(value, (tuple, list))]
    sizes: Sequence[Any] = candidates[-1] if candidates else inputs
    if name == "eye":
        return trace.tensor((integer(inputs[0], 1),) * 2 if inputs else None, "constant")
    shape: Shape = tuple(sizes) if sizes and all(isinstance(size, int) for size in sizes) else None
    return trace.tensor(shape if shape or sizes else (), "constant")


def _joined(parts: Sequence[Any], inputs: Sequence[Any], named: Arguments, trace: Trace) -> Any:
    tensors = [part for part in parts if isinstance(part, Tensor)]
    if not tensors:
        return UNKNOWN
    axis = integer(named.get("dim", inputs[1] if len(inputs) > 1 else 0), 0)
    first = tensors[0].shape
    shape: Shape = None
    if (
        first
        and all(t.shape is not None and len(t.shape) == len(first) for t in tensors)
        and -len(first) <= axis < len(first)
    ):
        total = sum(t.shape[axis] for t in tensors if t.shape)
        shape = tuple(total if index == axis % len(first) else extent for index, extent in enumerate(first))
    return trace.record("concat", tensors, shape, axes=(axis,), parts=len(tensors))


def _einsum(inputs: Sequence[Any], trace: Trace) -> Any:
    tensors = [value for value in inputs if isinstance(value, Tensor)]
    equation = inputs[0] if inputs and isinstance(inputs[0], str) else ""
    if not tensors:
        return UNKNOWN
    left, _, output = equation.replace(" ", "").partition("->")
    sizes: dict[str, int] = {}
    for letters, tensor in zip(left.split(","), tensors, strict=False):
        if tensor.shape and len(tensor.shape) == len(letters):
            sizes.update(zip(letters, tensor.shape, strict=True))
    shape: Shape = tuple(sizes[letter] for letter in output) if output and all(c in sizes for c in output) else None
    left_letters, _, right_letters = left.partition(",")
    shared = len(right_letters) == 2 and len(tensors) == 2 and left_letters[-1:] == right_letters[:1]
    if shared and len(left_letters) in (3, 4) and output == left_letters[:-1] + right_letters[1]:
        return trace.record(
            f"tensor{len(left_letters)}d_matmul", tensors, shape, layout="nn", inner=sizes.get(right_letters[0], 0)
        )
    return trace.record("einsum_contraction", tensors, shape, equation=equation)


def _reduction(name: str, tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Any:
    """Record a collapse of axes; two-tensor or scalar ``min``/``max`` is elementwise instead."""
    other = named.get("other", rest[0] if rest else None)
    if name in {"max", "min"} and isinstance(other, (Tensor, float)):
        return trace.record("elementwise_minmax", [tensor, other], tensor.shape)
    argument = named.get("dim", named.get("axis", rest[0] if rest and name != "norm" else None))
    if name == "norm" and argument is None and len(rest) > 1:
        argument = rest[1]
    axes = (
        (argument,) if isinstance(argument, int) else tuple(argument) if isinstance(argument, (tuple, list)) else None
    )
    if axes is not None and not all(isinstance(axis, int) for axis in axes):
        axes = None
    last = rest[-1] if len(rest) > 1 else False
    keepdim = named.get("keepdim", last) is True
    operation = _REDUCTIONS[name]
    power = named.get("p", rest[0] if rest and name == "norm" else None)
    shape = shapes.reduced(tensor.shape, axes, keepdim)
    output = trace.record(operation, [tensor], shape, axes=axes, keepdim=keepdim, power=power)
    if name in {"max", "min"} and axes is not None:
        return (output, trace.record("~indices", [output], shape))
    return output


def _clamp(tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Tensor:
    low = named.get("min", named.get("min_val", rest[0] if rest else None))
    high = named.get("max", named.get("max_val", rest[1] if len(rest) > 1 else None))
    if low == 0 and high is None:
        return trace.record("relu", [tensor], tensor.shape)
    if low is None or high is None:
        return trace.record("elementwise_minmax", [tensor], tensor.shape)
    return trace.record("clamp", [tensor], tensor.shape, low=low, high=high)


def _hardtanh(tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Tensor:
    low = named.get("min_val", rest[0] if rest else -1)
    high = named.get("max_val", rest[1] if len(rest) > 1 else 1)
    return trace.record("hardtanh", [tensor], tensor.shape, low=low, high=high)


def _elementwise_minmax(tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Tensor:
    return trace.record("elementwise_minmax", [tensor, *rest], tensor.shape)


def _gelu(tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Tensor:
    name = "gelu_tanh" if named.get("approximate", rest[0] if rest else None) == "tanh" else "gelu"
    return trace.record(name, [tensor], tensor.shape)


def _softmax(name: str) -> Callable[[Tensor, Sequence[Any], Arguments, Trace], Tensor]:
    def record(tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Tensor:
        return trace.record(
            name, [tensor], tensor.shape, axes=(integer(named.get("dim", rest[0] if rest else -1), -1),)
        )

    return record


def _scan(name: str) -> Callable[[Tensor, Sequence[Any], Arguments, Trace], Tensor]:
    def record(tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Tensor:
        return trace.record(
            name, [tensor], tensor.shape, flipped="flipped" in tensor.marks, exclusive="padded" in tensor.marks
        )

    return record


def _row_norm(name: str) -> Callable[[Tensor, Sequence[Any], Arguments, Trace], Tensor]:
    def record(tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Tensor:
        shape = named.get("normalized_shape", rest[0] if rest else None)
        return trace.record(
            name, [tensor], tensor.shape, normalized=shape if isinstance(shape, (tuple, list)) else (shape,)
        )

    return record


def _simple(name: str) -> Callable[[Tensor, Sequence[Any], Arguments, Trace], Tensor]:
    def record(tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Tensor:
        groups = integer(rest[0], 0) if rest else 0
        return trace.record(name, [tensor], tensor.shape, groups=groups, power=named.get("p", 2), channels=0)

    return record


def _matmul(tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Any:
    other = rest[0] if rest else named.get("other", named.get("mat2", UNKNOWN))
    return arithmetic.product(tensor, other, trace) if isinstance(other, Tensor) else trace.tensor()


def _addmm(tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Any:
    return (
        arithmetic.product(rest[0], rest[1], trace) if len(rest) > 1 and isinstance(rest[0], Tensor) else trace.tensor()
    )


def _linear(tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Tensor:
    weight = rest[0] if rest else named.get("weight")
    width, inner = weight.shape if isinstance(weight, Tensor) and weight.rank == 2 and weight.shape else (0, 0)
    return layers.apply(layers.build("Linear", (inner, width), {}), [tensor], trace)  # type: ignore[no-any-return]


def _sdpa(tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Tensor:
    name = "causal_attention" if named.get("is_causal") is True else "scaled_dot_product_attention"
    return trace.record(name, [tensor, *rest], tensor.shape)


def _arithmetic(operator: str) -> Callable[[Tensor, Sequence[Any], Arguments, Trace], Any]:
    def record(tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Any:
        other = rest[0] if rest else named.get("other", named.get("exponent", UNKNOWN))
        return arithmetic.arithmetic(operator, tensor, other, trace)

    return record


_HANDLERS: Mapping[str, Callable[[Tensor, Sequence[Any], Arguments, Trace], Any]] = {
    "clamp": _clamp, "clip": _clamp, "clamp_": _clamp, "hardtanh": _hardtanh, "gelu": _gelu,
    "maximum": _elementwise_minmax, "minimum": _elementwise_minmax, "clamp_min": _elementwise_minmax,
    "clamp_max": _elementwise_minmax,
    "softmax": _softmax("softmax"), "log_softmax": _softmax("log_softmax"),
    "cumsum": _scan("cumsum"), "cumprod": _scan("cumprod"),
    "layer_norm": _row_norm("layer_norm"), "rms_norm": _row_norm("rms_norm"), "batch_norm": _simple("batch_norm"),
    "group_norm": _simple("group_norm"), "instance_norm": _simple("instance_norm"), "normalize": _simple("l2_norm"),
    "matmul": _matmul, "mm": _matmul, "bmm": _matmul, "mv": _matmul, "dot": _matmul, "addmm": _addmm, "baddbmm": _addmm,
    "linear": _linear, "scaled_dot_product_attention": _sdpa,
    "add": _arithmetic("Add"), "sub": _arithmetic("Sub"), "mul": _arithmetic("Mult"), "div": _arithmetic("Div"),
    "subtract": _arithmetic("Sub"), "multiply": _arithmetic("Mult"), "divide": _arithmetic("Div"),
    "pow": _arithmetic("Pow"),
    "add_": _arithmetic("Add"), "sub_": _arithmetic("Sub"), "mul_": _arithmetic("Mult"), "div_": _arithmetic("Div"),
    "true_divide": _arithmetic("Div"),
}  # fmt: skip


def _dimensioned(name: str, tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace) -> Any:
    """Handle ``conv2d``, ``conv_transpose3d``, ``max_pool2d``, ``adaptive_avg_pool2d`` and their kin."""
    if len(name) < 5 or name[-1] != "d" or name[-2] not in "123":
        return UNKNOWN
    stem, dimensions = name[:-2], int(name[-2])
    if stem in {"max_pool", "avg_pool"}:
        kind = ("MaxPool" if stem == "max_pool" else "AvgPool") + name[-2:]
        return layers.apply(layers.build(kind, rest, named), [tensor], trace)
    if stem in {"adaptive_avg_pool", "adaptive_max_pool"}:
        size = rest[0] if rest else named.get("output_size", 1)
        return layers.apply(layers.build("AdaptiveAvgPool" + name[-2:], (), {"size": size}), [tensor], trace)
    if stem not in {"conv", "conv_transpose"} or not rest:
        return UNKNOWN
    return _functional_convolution(stem == "conv_transpose", dimensions, tensor, rest, named, trace)


def _functional_convolution(
    transposed: bool, dimensions: int, tensor: Tensor, rest: Sequence[Any], named: Arguments, trace: Trace
) -> Tensor:
    weight = rest[0]
    order = ("bias", "stride", "padding", "output_padding", "groups", "dilation")
    if not transposed:
        order = ("bias", "stride", "padding", "dilation", "groups", "groups")
    arguments = dict(zip(order, rest[1:], strict=False)) | dict(named)
    groups = integer(arguments.get("groups", 1), 1)
    if isinstance(weight, Tensor) and weight.shape and len(weight.shape) == dimensions + 2:
        arguments["kernel_size"] = weight.shape[2:]
        first, second = weight.shape[:2]
        arguments["in_channels"] = first if transposed else second * groups
        arguments["out_channels"] = second * groups if transposed else first
    detail = layers.convolution_detail(dimensions, arguments)
    return layers.record_convolution(dimensions, detail, tensor, trace, transposed)
