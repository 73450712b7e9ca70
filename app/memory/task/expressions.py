"""Evaluates expressions of a module over abstract values: constants, tensors, layers, containers, functions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from app.memory.task.arithmetic import arithmetic
from app.memory.task.calls import call_value
from app.memory.task.constants import binary, compare, subscript, unary
from app.memory.task.trace import BudgetSpent, Trace
from app.memory.task.values import UNKNOWN, Class, Container, Function, Instance, Layer, Method, Path, Scope, Tensor

MAX_STEPS = 120_000
MAX_UNROLL = 64

_TENSOR_SHAPE = frozenset({"shape", "T", "mT", "H"})


class Expressions:
    """Values of expressions. `Interpreter` extends this with statements and calls of the module's functions."""

    def __init__(self) -> None:
        """Start with an empty trace and the whole budget."""
        self.trace = Trace()
        self.steps = 0

    def spend(self) -> None:
        """Count one step.

        Raises:
            BudgetSpent: more than `MAX_STEPS` were taken.
        """
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise BudgetSpent

    def function(self, function: Function, positional: Sequence[Any], named: dict[str, Any]) -> Any:
        """Follow a call of a function of the module and return its value."""
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        """Bind a target of an assignment."""
        raise NotImplementedError

    def items(self, value: Any) -> list[Any]:
        """Return what iterating over a value yields, bounded; nothing for values that are not followed."""
        if isinstance(value, Container):
            return list(value.items.values())[:MAX_UNROLL]
        if isinstance(value, dict):
            return list(value)[:MAX_UNROLL]
        if isinstance(value, (list, tuple, range, str)):
            return list(value[:MAX_UNROLL])
        if isinstance(value, Tensor) and value.shape:
            part = Tensor(value.id, value.shape[1:], value.origin, value.marks)
            return [part] * min(value.shape[0], 8)
        if isinstance(value, Instance) and "_items" in value.attributes:
            return self.items(value.attributes["_items"])
        return []

    def value(self, node: ast.expr, scope: Scope) -> Any:
        """Return the abstract value of an expression."""
        self.spend()
        handler = getattr(self, "_of_" + type(node).__name__.lower(), None)
        return handler(node, scope) if handler is not None else UNKNOWN

    def _of_constant(self, node: ast.Constant, scope: Scope) -> Any:
        return node.value

    def _of_name(self, node: ast.Name, scope: Scope) -> Any:
        found = scope.find(node.id)
        return Path(node.id) if found is UNKNOWN else found

    def _of_tuple(self, node: ast.Tuple, scope: Scope) -> Any:
        return tuple(self._elements(node.elts, scope))

    def _of_list(self, node: ast.List, scope: Scope) -> Any:
        return self._elements(node.elts, scope)

    def _elements(self, nodes: Iterable[ast.expr], scope: Scope) -> list[Any]:
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found.extend(self.items(self.value(node.value, scope)))
            else:
                found.append(self.value(node, scope))
        return found

    def _of_dict(self, node: ast.Dict, scope: Scope) -> Any:
        pairs = ((key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None)
        found = ((self.value(key, scope), self.value(value, scope)) for key, value in pairs)
        return {key: value for key, value in found if isinstance(key, (str, int, float))}

    def _of_attribute(self, node: ast.Attribute, scope: Scope) -> Any:
        return self.attribute(self.value(node.value, scope), node.attr)

    def attribute(self, owner: Any, name: str) -> Any:
        """Return ``owner.name``."""
        if isinstance(owner, Path):
            return Path(f"{owner.name}.{name}")
        if isinstance(owner, Instance):
            if name in owner.attributes:
                return owner.attributes[name]
            if method := owner.kind.method(name):
                return Function(method[0], method[1].scope, owner, method[1])
            return Method(owner, name)
        if isinstance(owner, Tensor) and name == "shape":
            return owner.shape if owner.shape is not None else UNKNOWN
        if isinstance(owner, Tensor) and name in _TENSOR_SHAPE:
            return call_value(self, Method(owner, name), [], {})
        if isinstance(owner, Tensor) and name == "ndim":
            return owner.rank if owner.rank is not None else UNKNOWN
        if isinstance(owner, Container) and name in owner.items:
            return owner.items[name]
        if isinstance(owner, tuple) and owner and name in {"values", "indices"}:
            return owner[0 if name == "values" else -1]
        if isinstance(owner, Layer) and name in owner.arguments:
            return owner.arguments[name]
        if isinstance(owner, Layer) and name == "weight":
            return self.trace.tensor(None, "parameter")
        return Method(owner, name) if owner is not UNKNOWN else UNKNOWN

    def _of_call(self, node: ast.Call, scope: Scope) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return Method(scope.find("self"), "super")
        target = self.value(node.func, scope)
        positional = self._elements(node.args, scope)
        named: dict[str, Any] = {}
        for keyword in node.keywords:
            found = self.value(keyword.value, scope)
            if keyword.arg is not None:
                named[keyword.arg] = found
            elif isinstance(found, dict):
                named.update({key: value for key, value in found.items() if isinstance(key, str)})
        if isinstance(target, Method) and isinstance(target.owner, Method) and target.owner.name == "super":
            return self._super(target.owner.owner, target.name, positional, named, scope)
        return call_value(self, target, positional, named)

    def _super(self, instance: Any, name: str, positional: list[Any], named: dict[str, Any], scope: Scope) -> Any:
        owner = scope.find("__class__")
        if not isinstance(instance, Instance) or not isinstance(owner, Class):
            return UNKNOWN
        for base in owner.bases:
            if isinstance(base, Class) and (method := base.method(name)):
                return self.function(Function(method[0], method[1].scope, instance, method[1]), positional, named)
        if name == "__init__" and instance.kind.library_base() in {"Sequential", "ModuleList"}:
            instance.attributes["_items"] = list(positional)
        elif name == "__init__" and instance.kind.library_base():
            instance.attributes["_layer"] = call_value(
                self, Path("torch.nn." + instance.kind.library_base()), positional, named
            )
        elif name == "forward":
            return call_value(self, instance.attributes.get("_layer", UNKNOWN), positional, named)
        return None

    def _of_binop(self, node: ast.BinOp, scope: Scope) -> Any:
        return self.operate(type(node.op).__name__, self.value(node.left, scope), self.value(node.right, scope))

    def operate(self, operator: str, left: Any, right: Any) -> Any:
        """Return ``left operator right`` for tensors or constants."""
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            return arithmetic(operator, left, right, self.trace)
        return binary(operator, left, right)

    def _of_unaryop(self, node: ast.UnaryOp, scope: Scope) -> Any:
        operand = self.value(node.operand, scope)
        if isinstance(operand, Tensor):
            return operand if not isinstance(node.op, ast.USub) else call_value(self, Method(operand, "neg"), [], {})
        return unary(type(node.op).__name__, operand)

    def _of_compare(self, node: ast.Compare, scope: Scope) -> Any:
        left, right = self.value(node.left, scope), self.value(node.comparators[0], scope)
        if isinstance(left, Tensor) and not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            return self.trace.tensor(left.shape, "constant")
        return compare(type(node.ops[0]).__name__, left, right) if len(node.ops) == 1 else UNKNOWN

    def _of_boolop(self, node: ast.BoolOp, scope: Scope) -> Any:
        found: Any = UNKNOWN
        for part in node.values:
            found = self.value(part, scope)
            truth = self.truth(found)
            if truth is None or truth == isinstance(node.op, ast.Or):
                return found if truth is not None else UNKNOWN
        return found

    def truth(self, value: Any) -> bool | None:
        """Return the truth of a value, None when it is not followed."""
        if isinstance(value, (Tensor, Path, Method)) or value is UNKNOWN:
            return None
        return bool(value) if value is None or isinstance(value, (bool, int, float, str, list, tuple, dict)) else True

    def _of_ifexp(self, node: ast.IfExp, scope: Scope) -> Any:
        chosen = node.body if self.truth(self.value(node.test, scope)) is not False else node.orelse
        return self.value(chosen, scope)

    def _of_lambda(self, node: ast.Lambda, scope: Scope) -> Any:
        return Function(node, scope)

    def _of_subscript(self, node: ast.Subscript, scope: Scope) -> Any:
        owner, index = self.value(node.value, scope), self.value(node.slice, scope)
        if isinstance(owner, Instance) and "_items" in owner.attributes:
            owner = owner.attributes["_items"]
        return subscript(owner, index, self.trace)

    def _of_slice(self, node: ast.Slice, scope: Scope) -> Any:
        parts = [None if part is None else self.value(part, scope) for part in (node.lower, node.upper, node.step)]
        return slice(*parts) if all(part is None or isinstance(part, int) for part in parts) else slice(None)

    def _of_listcomp(self, node: ast.ListComp | ast.GeneratorExp, scope: Scope) -> Any:
        found: list[Any] = []
        self._generate(node.generators, node.elt, Scope({}, scope), found)
        return found

    _of_generatorexp = _of_listcomp

    def _generate(self, generators: list[ast.comprehension], element: ast.expr, scope: Scope, found: list[Any]) -> None:
        if not generators:
            found.append(self.value(element, scope))
            return
        for item in self.items(self.value(generators[0].iter, scope)):
            self.assign(generators[0].target, item, scope)
            if all(self.truth(self.value(test, scope)) is not False for test in generators[0].ifs):
                self._generate(generators[1:], element, scope, found)

    def _of_joinedstr(self, node: ast.JoinedStr, scope: Scope) -> Any:
        parts = [part.value if isinstance(part, ast.Constant) else self._formatted(part, scope) for part in node.values]
        return "".join(str(part) for part in parts)

    def _formatted(self, node: ast.expr, scope: Scope) -> Any:
        found = self.value(node.value, scope) if isinstance(node, ast.FormattedValue) else UNKNOWN
        return found if isinstance(found, (str, int)) else "?"
