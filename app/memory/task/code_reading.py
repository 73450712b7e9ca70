"""Turns a traced module into the operations, shapes and regimes of a task profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import Any

from app.memory.task.composites import composites
from app.memory.task.modules import Module, read_module
from app.memory.task.patterns import recognise
from app.memory.task.profile import MAX_OPERATIONS, OperationUse, Shape
from app.memory.task.trace import Use

MANY_LAYERS = 40
FEW_LAYERS = 15
_KEPT = ("kernel", "stride", "padding", "dilation", "output_padding", "groups", "in_channels", "out_channels", "axes",
         "layout", "inner", "width", "hidden", "layers", "bidirectional", "channels", "low", "high")  # fmt: skip
_QUIET = frozenset({"transpose", "dropout"})


@dataclass(frozen=True, slots=True)
class CodeReading:
    """Operations in order (composites first), input shapes, regimes only code can tell, and how far it was followed."""

    operations: tuple[OperationUse, ...]
    shapes: tuple[Shape, ...]
    regimes: Mapping[str, bool]
    confidence: float
    note: str


def read_code(source: str) -> CodeReading:
    """Read a PyTorch module by its syntax tree; code that is not understood gives confidence 0 and a note."""
    module = read_module(source)
    uses = recognise(module.uses)
    blocks = composites(uses, module.uses)
    operations = tuple(OperationUse(name, 1.0, "code", name) for name in blocks)
    steps = uses if _is_plain(uses) else [use for use in uses if use.operation not in _QUIET]
    operations += tuple(
        OperationUse(use.operation, 1.0, "code", use.operation, _detail(use)) for use in _shortened(steps)
    )
    shapes = tuple(shape for shape in module.inputs if shape)
    confidence = _confidence(module, operations)
    return CodeReading(operations[:MAX_OPERATIONS], shapes, _regimes(module, uses, shapes), confidence, module.problem)


def _is_plain(uses: Sequence[Use]) -> bool:
    return len(uses) <= 8


def _shortened(uses: Sequence[Use]) -> list[Use]:
    """Keep a long network's first uses, then one of each operation not yet seen, so that the end of it is not lost."""
    head = list(uses[: MAX_OPERATIONS - 10])
    seen = {use.operation for use in head}
    for use in uses[len(head) :]:
        if use.operation not in seen:
            seen.add(use.operation)
            head.append(use)
    return head


def _detail(use: Use) -> Mapping[str, Any]:
    kept = {key: use.detail[key] for key in _KEPT if key in use.detail}
    if use.shape_out is not None:
        kept["elements"] = prod(use.shape_out)
    if "inner" in kept and use.shape_in:
        kept["rows"] = (
            prod(use.shape_in[:-1]) if use.operation == "linear" or len(use.shape_in) > 2 else use.shape_in[0]
        )
        if not kept.get("width") and use.shape_out:
            kept["width"] = use.shape_out[-1]
    if use.operation == "group_norm" and not kept.get("channels") and use.shape_in and len(use.shape_in) > 1:
        kept["channels"] = use.shape_in[1]
    axes = kept.get("axes")
    if axes and use.shape_in:
        kept["axes"] = tuple(axis % len(use.shape_in) for axis in axes)
    return MappingProxyType(kept)


def _regimes(module: Module, uses: Sequence[Use], shapes: Sequence[Shape]) -> dict[str, bool]:
    found: dict[str, bool] = {"many_layers": len(uses) >= MANY_LAYERS}
    if len(uses) < FEW_LAYERS:
        found["launch_bound"] = False
    elif shapes and len(uses) >= MANY_LAYERS:
        found["launch_bound"] = shapes[0][0] <= 16
    if module.dead or "+last" in module.name:
        found["dead_outputs"] = True
    if any(_reduces_one_entry(use) for use in uses):
        found["degenerate_reduction"] = True
    return found


def _reduces_one_entry(use: Use) -> bool:
    axes, shape = use.detail.get("axes"), use.shape_in
    if not use.operation.endswith("_reduce") or not axes or not shape:
        return False
    return all(-len(shape) <= axis < len(shape) and shape[axis] == 1 for axis in axes)


def _confidence(module: Module, operations: Sequence[OperationUse]) -> float:
    if not operations:
        return 0.0
    return 0.97 if module.complete else 0.6
