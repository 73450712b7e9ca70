"""Layout changes and queries of tensors: views, permutations, splits, shapes. They move data and compute nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.memory.task import shapes
from app.memory.task.trace import Trace
from app.memory.task.values import UNKNOWN, Shape, Tensor, integer

_SAME = frozenset(
    {"contiguous", "clone", "detach", "float", "half", "bfloat16", "to", "cuda", "cpu", "type", "bool", "double", "int",
     "requires_grad_", "expand", "expand_as", "repeat", "squeeze_", "type_as", "long", "masked_select"}
)  # fmt: skip


def call(name: str, tensor: Tensor, rest: Sequence[Any], named: Mapping[str, Any], trace: Trace) -> Any:
    """Follow a layout method; other calls become an arithmetic step that keeps the chain alive."""
    if name in _SAME:
        return tensor
    handler = _HANDLERS.get(name)
    return handler(name, tensor, rest, named, trace) if handler else trace.record("~" + name, [tensor, *rest], None)


def _viewed(name: str, tensor: Tensor, rest: Sequence[Any], named: Mapping[str, Any], trace: Trace) -> Any:
    sizes = rest[0] if len(rest) == 1 and isinstance(rest[0], (tuple, list)) else rest
    shape = shapes.reshaped(tensor.shape, sizes)
    if "shuffled" in tensor.marks and len(sizes) == 4:
        return trace.record("channel_shuffle", [tensor], shape)
    return trace.view(tensor, shape)


def _unflattened(name: str, tensor: Tensor, rest: Sequence[Any], named: Mapping[str, Any], trace: Trace) -> Any:
    """Split the last axis; another axis leaves the shape unknown."""
    if len(rest) != 2 or not isinstance(rest[1], (tuple, list)) or not tensor.shape:
        return trace.view(tensor, None)
    last = rest[0] in (-1, len(tensor.shape) - 1)
    return trace.view(tensor, shapes.reshaped(tensor.shape, (*tensor.shape[:-1], *rest[1])) if last else None)


def _recorded(name: str, tensor: Tensor, rest: Sequence[Any], named: Mapping[str, Any], trace: Trace) -> Any:
    if name in {"gather", "index_select", "embedding", "take"}:
        return trace.record("gather", [tensor], None)
    return trace.record("masked_fill", [tensor, *rest], tensor.shape)


def _queried(name: str, tensor: Tensor, rest: Sequence[Any], named: Mapping[str, Any], trace: Trace) -> Any:
    if name in {"size", "shape"}:
        return _size(tensor, rest)
    return UNKNOWN if name == "item" or tensor.rank is None else tensor.rank


def _size(tensor: Tensor, rest: Sequence[Any]) -> Any:
    if tensor.shape is None:
        return UNKNOWN
    if rest and isinstance(rest[0], int) and -len(tensor.shape) <= rest[0] < len(tensor.shape):
        return tensor.shape[rest[0]]
    return tensor.shape


def _permuted(name: str, tensor: Tensor, rest: Sequence[Any], named: Mapping[str, Any], trace: Trace) -> Tensor:
    axes = rest[0] if rest and isinstance(rest[0], (tuple, list)) else rest
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


def _flattened(name: str, tensor: Tensor, rest: Sequence[Any], named: Mapping[str, Any], trace: Trace) -> Tensor:
    marks = ["column"] if name == "unsqueeze" and tuple(rest[:1]) == (1,) else []
    return trace.view(tensor, _flat(name, tensor.shape, rest, named), *marks)


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


def _marked(name: str, tensor: Tensor, rest: Sequence[Any], named: Mapping[str, Any], trace: Trace) -> Tensor:
    if name == "diag":
        return trace.view(tensor, None, "diagonal")
    if tensor.origin == "result":
        return trace.view(tensor, tensor.shape, "triangular")
    return replace(tensor, marks=tensor.marks | {"triangular"})


def _moved(name: str, tensor: Tensor, rest: Sequence[Any], named: Mapping[str, Any], trace: Trace) -> Tensor:
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


_Handler = Callable[[str, Tensor, Sequence[Any], Mapping[str, Any], Trace], Any]
_HANDLERS: Mapping[str, _Handler] = {
    **dict.fromkeys(("view", "reshape"), _viewed),
    **dict.fromkeys(("t", "transpose", "swapaxes", "permute", "movedim", "T", "mT", "H"), _permuted),
    **dict.fromkeys(("unsqueeze", "squeeze", "flatten"), _flattened),
    **dict.fromkeys(("tril", "triu", "diag"), _marked),
    **dict.fromkeys(("flip", "narrow", "roll", "pad"), _moved),
    **dict.fromkeys(("masked_fill", "masked_fill_", "where", "gather", "index_select", "embedding", "take"), _recorded),
    **dict.fromkeys(("chunk", "split", "unbind", "tensor_split"), _parts),
    **dict.fromkeys(("size", "shape", "dim", "ndimension", "item"), _queried),
    "unflatten": _unflattened,
}
