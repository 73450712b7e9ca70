"""Tensor arithmetic and matrix products of the code reader, under the most specific operation name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.memory.task import shapes
from app.memory.task.trace import Trace
from app.memory.task.values import UNKNOWN, Tensor


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
