"""Reads one PyTorch module's source into the operations its forward pass executes. The source is parsed, never run."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from app.memory.task.interpreter import Interpreter
from app.memory.task.trace import BudgetSpent, Use, reaching
from app.memory.task.values import UNKNOWN, Class, Function, Instance, Scope, Shape, Tensor

MAX_SOURCE_BYTES = 1_000_000
MAX_NODES = 60_000
NODES_PER_CHARACTER = 4  # no syntax tree has more: a name of one letter beside its separator makes three
MAX_BRACKETS = 80
_BRACKET = re.compile(r"[\[({\])}]")


@dataclass(frozen=True, slots=True)
class Module:
    """What was understood of a module: uses in order, input shapes, and whether the end of `forward` was reached."""

    uses: tuple[Use, ...]
    inputs: tuple[Shape, ...]
    complete: bool
    dead: int
    parameters: frozenset[int]
    name: str
    problem: str = ""


FOREIGN_FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    MemoryError,
    NameError,
    NotImplementedError,
    StopIteration,
    SyntaxError,
    TypeError,
    ValueError,
)
"""What following foreign code can end in; a reader must not fall over it, and keeps the reason as evidence."""


def read_module(source: str) -> Module:
    """Follow the model class (or function) of a source text; an unreadable source gives an empty `Module` with its
    reason.
    """
    tree, problem = parse(source)
    if tree is None:
        return Module((), (), False, 0, frozenset(), "", problem)
    reader = Interpreter()
    scope = Scope({})
    try:
        reader.run([node for node in tree.body if not _is_main_guard(node)], scope)
        return _follow(reader, tree, scope)
    except (BudgetSpent, RecursionError):
        return _finish(reader, UNKNOWN, [], "", complete=False)
    except FOREIGN_FAULTS as error:
        return Module(tuple(reader.trace.uses), (), False, 0, frozenset(), "", f"not followed: {type(error).__name__}")


def parse(source: str) -> tuple[ast.Module | None, str]:
    """Return the syntax tree, or None and the reason: too large, too deep, or not Python."""
    if len(source.encode("utf-8", "replace")) > MAX_SOURCE_BYTES:
        return None, "code larger than 1 MB"
    if _bracket_depth(source) > MAX_BRACKETS:
        return None, "code nested too deeply"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None, "code is not Python"
    if NODES_PER_CHARACTER * len(source) > MAX_NODES and sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        return None, "code has too many parts"
    return tree, ""


def _bracket_depth(source: str) -> int:
    depth = deepest = 0
    for bracket in _BRACKET.findall(source):
        if bracket in "([{":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth = max(depth - 1, 0)
    return deepest


def _is_main_guard(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__name__" in ast.dump(node.test)


def _follow(reader: Interpreter, tree: ast.Module, scope: Scope) -> Module:
    inputs = _results(reader, scope.find("get_inputs"))
    made = [
        Tensor(value.id, value.shape, "input", value.marks) if isinstance(value, Tensor) else value for value in inputs
    ]
    reader.trace.uses.clear()
    target = _model(scope)
    if isinstance(target, Class):
        return _follow_class(reader, target, made, scope)
    functions = [value for value in scope.names.values() if isinstance(value, Function) and not _is_harness(value)]
    if functions:
        name = getattr(functions[-1].node, "name", "")
        count = len(functions[-1].node.args.args)
        value = reader.function(functions[-1], made or [reader.trace.tensor(None, "input") for _ in range(count)], {})
        return _finish(reader, value, made, name, complete=True)
    reader.run(tree.body, scope)
    return _finish(reader, UNKNOWN, made, "", complete=False)


def _is_harness(function: Function) -> bool:
    return getattr(function.node, "name", "") in {"get_inputs", "get_init_inputs"}


def _results(reader: Interpreter, function: Any) -> list[Any]:
    if not isinstance(function, Function):
        return []
    value = reader.function(function, [], {})
    return list(value) if isinstance(value, (list, tuple)) else [value] if isinstance(value, Tensor) else []


def _model(scope: Scope) -> Class | None:
    classes = {
        name: value for name, value in scope.names.items() if isinstance(value, Class) and value.method("forward")
    }
    return classes.get("Model") or (list(classes.values())[-1] if classes else None)


def _follow_class(reader: Interpreter, model: Class, inputs: list[Any], scope: Scope) -> Module:
    instance = Instance(model)
    arguments = _results(reader, scope.find("get_init_inputs"))
    before = len(reader.trace.uses)
    if method := model.method("__init__"):
        reader.function(Function(method[0], method[1].scope, instance, method[1]), arguments, {})
    del reader.trace.uses[before:]
    forward = model.method("forward")
    assert forward is not None  # _model chose a class that has one
    wanted = len(forward[0].args.args) - 1 - len(forward[0].args.defaults)
    while len(inputs) < wanted:
        inputs.append(reader.trace.tensor(None, "input"))
    try:
        value = reader.function(Function(forward[0], forward[1].scope, instance, forward[1]), inputs, {})
    except (BudgetSpent, RecursionError):
        return _finish(reader, UNKNOWN, inputs, model.node.name, complete=False)
    return _finish(reader, value, inputs, model.node.name, complete=True)


def _tensors(value: Any) -> Iterable[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _tensors(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _tensors(part)


def _finish(reader: Interpreter, value: Any, inputs: list[Any], name: str, *, complete: bool) -> Module:
    """Drop uses that never reach the result (dead work) when the result was followed to at least half of them."""
    uses = reader.trace.uses
    outputs = list(_tensors(value))
    live = reaching(uses, [tensor.id for tensor in outputs])
    marks = {mark for tensor in outputs for mark in tensor.marks}
    if not outputs or len(live) * 3 < len(uses):
        live = list(uses)
    shapes = tuple(value.shape for value in inputs if isinstance(value, Tensor))
    problem = "" if complete else "followed in part"
    name = name + ("+triangular" if "triangular" in marks else "") + ("+last" if "last" in marks else "")
    return Module(
        tuple(live), shapes, complete, len(uses) - len(live), frozenset(reader.trace.parameters), name, problem
    )
