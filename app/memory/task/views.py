"""Tensor arithmetic, matrix products and layout changes of the code reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.memory.task import shapes
from app.memory.task.trace import Trace
from app.memory.task.values import UNKNOWN, Shape, Tensor, integer

_SAME = frozenset(
    {"contiguous", "clone", "detach", "float", "half", "bfloat16", "to", "cuda", "cpu", "type", "bool", "double", "int",
     "requires_grad_", "expand", "expand_as", "repeat", "squeeze_", "type_as", "long", "masked_select"}
)  # fmt: skip


def arithmetic(operator: str, left: Any, right: Any, trace: Trace) -> Any:
    """Record ``left operator right`` where at least one side is a tensor."""
    if not isinstance(left, Tensor):
        return _with_scalar(operator, right, left, trace, swapped=True) if isinstance(right, Tensor) else UNKNOWN
    if not isinstance(right, Tensor):
        return _with_scalar(operator, left, right, trace, swapped=False)
    shape = shapes.broadcast(left.shape, right.shape)
    if operator == "MatMult":
        return product(left, right, trace)
    marks = (
        {"symmetric"}
        if "transposed" in left.marks ^ right.marks and operator == "Add" and left.id == right.id
        else set()
    )
    if left.origin == "constant" and right.origin == "constant":
        return trace.tensor(shape, "constant", marks)
    if operator in {"Add", "Sub"}:
        output = trace.record(_sum_name(operator, left, right), [left, right], shape, operator=operator)
        return replace(output, marks=frozenset(marks))
    if operator in {"Mult", "Div"}:
        return trace.record(_product_name(operator, left, right), [left, right], shape, operator=operator)
    return trace.record("~" + operator.lower(), [left, right], shape)


def _with_scalar(operator: str, tensor: Tensor, scalar: Any, trace: Trace, *, swapped: bool) -> Tensor:
    if tensor.origin == "constant":
        return trace.tensor(tensor.shape, "constant", tensor.marks & {"symmetric", "triangular"})
    if operator in {"Mult", "Div"}:
        if swapped and operator == "Div":
            return trace.record("~reciprocal", [tensor], tensor.shape)
        output = trace.record("scalar_multiply", [tensor], tensor.shape, factor=scalar, operator=operator)
        return replace(output, marks=tensor.marks & {"symmetric", "triangular"})
    if operator in {"Add", "Sub"}:
        return trace.record("scalar_add", [tensor], tensor.shape, term=scalar, operator=operator, swapped=swapped)
    if operator == "Pow":
        return trace.record("~square" if scalar == 2 else "~pow", [tensor], tensor.shape, power=scalar)
    return trace.record("~" + operator.lower(), [tensor], tensor.shape)


def _is_parameter(tensor: Tensor) -> bool:
    return tensor.origin in {"parameter", "constant"}


def _sum_name(operator: str, left: Tensor, right: Tensor) -> str:
    if _is_parameter(left) or _is_parameter(right):
        return "bias_add"
    if left.shape and right.shape and left.rank == right.rank and left.numel != right.numel and operator == "Sub":
        return "mean_subtract"
    return "residual_add"


def _product_name(operator: str, left: Tensor, right: Tensor) -> str:
    parameter = right if _is_parameter(right) else left if _is_parameter(left) else None
    if parameter is not None and parameter.origin == "parameter":
        return "scalar_multiply" if parameter.numel == 1 else "channel_scale"
    ranks = sorted(((left.rank or 0, left.numel or 0), (right.rank or 0, right.numel or 0)))
    both_inputs = left.origin == right.origin == "input"
    if both_inputs and ranks[0][1] == 1 and operator == "Mult":
        return "scalar_multiply"
    if both_inputs and "column" in left.marks ^ right.marks:
        return "diagonal_matmul"
    return "elementwise_multiply"


def product(left: Tensor, right: Tensor, trace: Trace) -> Tensor:
    """Record a matrix product under the most specific operation name, with its operand layout (nn, tn, nt, tt)."""
    layout = ("t" if "transposed" in left.marks else "n") + ("t" if "transposed" in right.marks else "n")
    inner = left.shape[-1] if left.shape else 0
    shape = shapes.multiplied(left.shape, right.shape)
    return trace.record(_product_kind(left, right, layout), [left, right], shape, layout=layout, inner=inner)


def _product_kind(left: Tensor, right: Tensor, layout: str) -> str:
    marks = left.marks | right.marks
    if "diagonal" in marks:
        return "diagonal_matmul"
    if "triangular" in left.marks and "triangular" in right.marks:
        return "triangular_matmul"
    if "symmetric" in left.marks and "symmetric" in right.marks:
        return "symmetric_matmul"
    ranks = (left.rank, right.rank)
    if right.rank == 1 or (right.shape and right.rank == 2 and right.shape[1] == 1):
        return "matvec"
    if ranks == (3, 2):
        return "tensor3d_matmul"
    if ranks == (4, 2):
        return "tensor4d_matmul"
    if (left.rank or 0) >= 3 and (right.rank or 0) >= 3:
        return "batched_matmul"
    if right.origin == "parameter" and layout == "nt":
        return "linear"
    return {"tn": "matmul_transposed_a", "nt": "matmul_transposed_b", "tt": "matmul_transposed_both"}.get(
        layout, "matmul"
    )


def call(name: str, tensor: Tensor, rest: Sequence[Any], named: Mapping[str, Any], trace: Trace) -> Any:
    """Follow a layout method; other calls become an arithmetic step that keeps the chain alive."""
    if name in _SAME:
        return tensor
    if name in {"view", "reshape"}:
        sizes = rest[0] if len(rest) == 1 and isinstance(rest[0], (tuple, list)) else rest
        if "shuffled" in tensor.marks and len(sizes) == 4:
            return trace.record("channel_shuffle", [tensor], shapes.reshaped(tensor.shape, sizes))
        return trace.view(tensor, shapes.reshaped(tensor.shape, sizes))
    if (
        name == "unflatten"
        and len(rest) == 2
        and isinstance(rest[1], (tuple, list))
        and tensor.shape
        and rest[0] in (-1, len(tensor.shape) - 1)
    ):
        return trace.view(tensor, shapes.reshaped(tensor.shape, (*tensor.shape[:-1], *rest[1])))
    if name in {"t", "transpose", "swapaxes", "permute", "movedim", "T", "mT"}:
        return _permuted(name, tensor, rest[0] if rest and isinstance(rest[0], (tuple, list)) else rest, trace)
    if name in {"unsqueeze", "squeeze", "flatten"}:
        return trace.view(
            tensor,
            _flat(name, tensor.shape, rest, named),
            *(["column"] if name == "unsqueeze" and rest[:1] == (1,) else []),
        )
    if name in {"tril", "triu"}:
        return _triangle(tensor, trace)
    if name == "diag":
        return trace.view(tensor, None, "diagonal")
    if name in {"flip", "narrow", "roll", "pad"}:
        return _moved(name, tensor, trace)
    if name in {"masked_fill", "masked_fill_", "where"}:
        return trace.record("masked_fill", [tensor, *rest], tensor.shape)
    if name in {"chunk", "split", "unbind", "tensor_split"}:
        return _parts(name, tensor, rest, named, trace)
    if name in {"gather", "index_select", "embedding", "take"}:
        return trace.record("gather", [tensor], None)
    if name in {"size", "shape"}:
        return _size(tensor, rest)
    if name in {"dim", "ndimension"}:
        return tensor.rank if tensor.rank is not None else UNKNOWN
    if name == "item":
        return UNKNOWN
    return trace.record("~" + name, [tensor, *rest], None)


def _size(tensor: Tensor, rest: Sequence[Any]) -> Any:
    if tensor.shape is None:
        return UNKNOWN
    if rest and isinstance(rest[0], int) and -len(tensor.shape) <= rest[0] < len(tensor.shape):
        return tensor.shape[rest[0]]
    return tensor.shape


def _permuted(name: str, tensor: Tensor, axes: Sequence[Any], trace: Trace) -> Tensor:
    shape, rank = tensor.shape, tensor.rank
    swapped: Shape = None
    if shape is not None and rank is not None:
        order = list(range(rank))
        if name == "permute" and sorted(axis % rank for axis in axes if isinstance(axis, int)) == order:
            order = [axis % rank for axis in axes]
        elif name in {"t", "T", "mT"} and rank >= 2:
            order[-1], order[-2] = order[-2], order[-1]
        elif len(axes) == 2 and all(isinstance(axis, int) and -rank <= axis < rank for axis in axes):
            order[axes[0]], order[axes[1]] = order[axes[1]], order[axes[0]]
        swapped = tuple(shape[axis] for axis in order)
        exchanged = order == [*range(rank - 2), rank - 1, rank - 2]
    else:
        exchanged = name != "permute"
    marks = tensor.marks ^ {"transposed"} if exchanged else tensor.marks
    if rank == 5 and name == "transpose" and sorted(axis for axis in axes if isinstance(axis, int)) == [1, 2]:
        marks = marks | {"shuffled"}
    return replace(tensor, shape=swapped, marks=marks)


def _flat(name: str, shape: Shape, rest: Sequence[Any], named: Mapping[str, Any]) -> Shape:
    axis = integer(named.get("dim", named.get("start_dim", rest[0] if rest else 0)), 0)
    if shape is None:
        return None
    if name == "unsqueeze":
        place = axis if axis >= 0 else len(shape) + axis + 1
        return (*shape[:place], 1, *shape[place:])
    if name == "squeeze":
        if not rest and not named:
            return tuple(extent for extent in shape if extent != 1)
        place = axis % len(shape) if shape else 0
        return (*shape[:place], *shape[place + 1 :]) if shape and shape[place] == 1 else shape
    lead = shape[:axis]
    return shapes.reshaped(shape, (*lead, -1)) if shape else shape


def _triangle(tensor: Tensor, trace: Trace) -> Tensor:
    if tensor.origin == "result":
        return trace.view(tensor, tensor.shape, "triangular")
    return replace(tensor, marks=tensor.marks | {"triangular"})


def _moved(name: str, tensor: Tensor, trace: Trace) -> Tensor:
    if name == "flip":
        return replace(tensor, marks=tensor.marks ^ {"flipped"})
    if name == "narrow":
        return replace(tensor, shape=None, marks=tensor.marks | {"padded"})
    return trace.record(name, [tensor], None if name == "pad" else tensor.shape)


def _parts(name: str, tensor: Tensor, rest: Sequence[Any], named: Mapping[str, Any], trace: Trace) -> Any:
    axis = integer(named.get("dim", rest[1] if len(rest) > 1 else 0 if name != "unbind" or not rest else rest[0]), 0)
    shape = tensor.shape
    if shape is None or not -len(shape) <= axis < len(shape):
        return [replace(tensor, shape=None) for _ in range(3)]
    extent = shape[axis]
    first = rest[0] if rest else 1
    if name == "unbind":
        rests = tuple(size for index, size in enumerate(shape) if index != axis % len(shape))
        return [replace(tensor, shape=rests) for _ in range(min(extent, 64))]
    if name == "split" and isinstance(first, (tuple, list)):
        sizes = [integer(size, 1) for size in first]
    else:
        step = integer(first, 1) if name == "split" else max(1, -(-extent // max(integer(first, 1), 1)))
        sizes = [step] * min(max(1, -(-extent // max(step, 1))), 64)
    return [
        replace(tensor, shape=tuple(size if i == axis % len(shape) else e for i, e in enumerate(shape)))
        for size in sizes
    ]
