"""Arithmetic on the plain constants of a module, bounded so that no expression can grow without limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from app.memory.task.trace import Trace
from app.memory.task.values import UNKNOWN, Container, Tensor

_MAX_NUMBER = 10**15
_MAX_LENGTH = 4096
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mult": lambda a, b: a * b,
    "Div": lambda a, b: a / b,
    "FloorDiv": lambda a, b: a // b,
    "Mod": lambda a, b: a % b,
    "Pow": lambda a, b: a**b,
    "LShift": lambda a, b: a << b,
    "RShift": lambda a, b: a >> b,
}
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "Eq": lambda a, b: a == b,
    "NotEq": lambda a, b: a != b,
    "Lt": lambda a, b: a < b,
    "LtE": lambda a, b: a <= b,
    "Gt": lambda a, b: a > b,
    "GtE": lambda a, b: a >= b,
    "In": lambda a, b: a in b,
    "NotIn": lambda a, b: a not in b,
}
_PLAIN = (int, float, str, bool, tuple, list, type(None))


def _number(value: Any) -> bool:
    return isinstance(value, (int, float))


def binary(operator: str, left: Any, right: Any) -> Any:
    """Return the value of a binary expression of constants, `UNKNOWN` when it is not followed or too large."""
    if operator == "Mod" and isinstance(left, str):
        return UNKNOWN
    if operator in {"Pow", "LShift"} and not (
        _number(left) and _number(right) and abs(left) <= 2**20 and abs(right) <= 40
    ):
        return UNKNOWN
    if operator == "Mult" and not _product_fits(left, right):
        return UNKNOWN
    if operator == "Add" and isinstance(left, (list, tuple)) and len(left) > _MAX_LENGTH:
        return UNKNOWN
    function = _OPERATORS.get(operator)
    if function is None or not (isinstance(left, _PLAIN) and isinstance(right, _PLAIN)):
        return UNKNOWN
    try:
        result = function(left, right)
    except (TypeError, ValueError, ArithmeticError):
        return UNKNOWN
    return UNKNOWN if _number(result) and not -_MAX_NUMBER <= result <= _MAX_NUMBER else result


def _product_fits(left: Any, right: Any) -> bool:
    if _number(left) and _number(right):
        return True
    sequence, count = (left, right) if isinstance(left, (list, tuple)) else (right, left)
    return (
        isinstance(sequence, (list, tuple)) and isinstance(count, int) and len(sequence) * max(count, 0) <= _MAX_LENGTH
    )


def unary(operator: str, operand: Any) -> Any:
    """Return the value of ``-x``, ``+x`` or ``not x`` for a constant."""
    if operator == "Not" and isinstance(operand, _PLAIN):
        return not operand
    if _number(operand):
        return -operand if operator == "USub" else operand
    return UNKNOWN


def compare(operator: str, left: Any, right: Any) -> Any:
    """Return a comparison of constants as a bool, `UNKNOWN` when a side is not followed."""
    if operator in {"Is", "IsNot"}:
        if left is UNKNOWN or right is UNKNOWN:
            return UNKNOWN
        return (left is right) == (operator == "Is")
    if not isinstance(left, _PLAIN) or not isinstance(right, (*_PLAIN, dict)):
        return UNKNOWN
    try:
        return _COMPARISONS[operator](left, right)
    except (TypeError, KeyError, RecursionError):
        return UNKNOWN


def subscript(owner: Any, index: Any, trace: Trace) -> Any:
    """Return ``owner[index]``."""
    if isinstance(owner, Tensor):
        return _slice_tensor(owner, index, trace)
    if isinstance(owner, Container):
        keys = list(owner.items)
        if isinstance(index, int) and -len(keys) <= index < len(keys):
            return owner.items[keys[index]]
        if isinstance(index, slice):
            return Container(owner.kind, {key: owner.items[key] for key in keys[index]})
        return owner.items.get(index, UNKNOWN) if isinstance(index, str) else UNKNOWN
    if isinstance(owner, dict):
        return owner.get(index, UNKNOWN) if isinstance(index, (str, int, float)) else UNKNOWN
    if isinstance(owner, (list, tuple, str, range)) and isinstance(index, (int, slice)):
        try:
            return owner[index]
        except (IndexError, ValueError):
            return UNKNOWN
    return UNKNOWN


def _slice_tensor(tensor: Tensor, index: Any, trace: Trace) -> Tensor:
    parts = index if isinstance(index, tuple) else (index,)
    if tensor.origin == "constant":
        return replace(tensor, shape=None)
    marks = tensor.marks | ({"last"} if any(part == -1 for part in parts if isinstance(part, int)) else set())
    if tensor.shape is None or any(part is Ellipsis for part in parts):
        return replace(tensor, shape=None, marks=marks)
    shape: list[int] = []
    rest = list(tensor.shape)
    for part in parts:
        if part is None:
            shape.append(1)
        elif not rest:
            return replace(tensor, shape=None, marks=marks)
        elif isinstance(part, int):
            rest.pop(0)
        elif isinstance(part, slice):
            shape.append(_slice_length(part, rest.pop(0)))
        else:
            return replace(tensor, shape=None, marks=marks)
    if parts[1:2] == (None,) and len(parts) == 2:
        marks = marks | {"column"}
    return replace(tensor, shape=(*shape, *rest), marks=marks)


def _slice_length(part: slice, extent: int) -> int:
    try:
        return len(range(extent)[part])
    except (TypeError, ValueError):
        return extent


def mathematics(name: str, inputs: list[Any]) -> Any:
    """Return ``math.name(*inputs)`` for numbers, `UNKNOWN` otherwise."""
    function = (
        getattr(math, name, None) if name in {"sqrt", "log", "log2", "ceil", "floor", "exp", "pow", "prod"} else None
    )
    if function is None or not all(_number(value) and abs(value) < 1e6 for value in inputs):
        return UNKNOWN
    try:
        return function(*inputs)
    except (TypeError, ValueError, ArithmeticError):
        return UNKNOWN
