"""Shape arithmetic of the code reader. Shapes are tuples of extents; None means "not followed"."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from app.memory.task.values import Shape, extents


def convolved(shape: Shape, dimensions: int, out_channels: int, detail: dict[str, Any], transposed: bool) -> Shape:
    """Return the output shape (N, C, *space) of a convolution; None when the input's rank does not fit."""
    if shape is None or len(shape) != dimensions + 2:
        return None
    space = []
    for axis in range(dimensions):
        size, kernel = shape[2 + axis], detail["kernel"][axis]
        stride, padding, dilation = detail["stride"][axis], detail["padding"][axis], detail["dilation"][axis]
        if transposed:
            extent = (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + detail["output_padding"][axis] + 1
        else:
            extent = (size + 2 * padding - dilation * (kernel - 1) - 1) // max(stride, 1) + 1
        space.append(max(extent, 1))
    return (shape[0], out_channels, *space)


def pooled(shape: Shape, dimensions: int, kernel: Any, stride: Any, padding: Any) -> Shape:
    """Return the output shape of a window pool over the last `dimensions` axes."""
    if shape is None or len(shape) < dimensions:
        return None
    windows = extents(kernel, dimensions, 2)
    steps = windows if stride is None else extents(stride, dimensions, 2)
    margins = extents(padding, dimensions, 0)
    lead, space = shape[: len(shape) - dimensions], shape[len(shape) - dimensions :]
    sizes = zip(space, windows, steps, margins, strict=True)
    return (*lead, *(max((size + 2 * margin - window) // max(step, 1) + 1, 1) for size, window, step, margin in sizes))


def broadcast(left: Shape, right: Shape) -> Shape:
    """Return the broadcast shape; the better known one when either is missing or they do not fit."""
    if left is None or right is None:
        return left if right is None else right
    rank = max(len(left), len(right))
    padded_left = (1,) * (rank - len(left)) + left
    padded_right = (1,) * (rank - len(right)) + right
    return tuple(max(a, b) for a, b in zip(padded_left, padded_right, strict=True))


def reduced(shape: Shape, axes: Sequence[int] | None, keepdim: bool) -> Shape:
    """Return the shape after collapsing axes (None: all)."""
    if shape is None:
        return None
    if axes is None:
        return (1,) * len(shape) if keepdim else ()
    gone = {axis % len(shape) for axis in axes} if shape else set()
    if keepdim:
        return tuple(1 if index in gone else extent for index, extent in enumerate(shape))
    return tuple(extent for index, extent in enumerate(shape) if index not in gone)


def reshaped(shape: Shape, sizes: Sequence[Any]) -> Shape:
    """Return the shape of a view; at most one size may be -1."""
    if not all(isinstance(size, int) for size in sizes):
        return None
    known = prod(size for size in sizes if size != -1)
    if -1 not in sizes:
        return tuple(sizes)
    if shape is None or known <= 0:
        return None
    return tuple(prod(shape) // known if size == -1 else size for size in sizes)


def multiplied(left: Shape, right: Shape) -> Shape:
    """Return the shape of a matrix product with broadcast leading axes."""
    if left is None or right is None or not left or not right:
        return None
    if len(right) == 1:
        return left[:-1]
    if len(left) == 1:
        return (*right[:-2], right[-1])
    lead = broadcast(left[:-2], right[:-2]) or ()
    return (*lead, left[-2], right[-1])
