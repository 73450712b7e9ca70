"""Follows a module's statements without executing it: abstract values in, a trace of operations out.

Nothing of the module is imported, compiled to bytecode or called. Every step counts against a budget, loops are
unrolled a bounded number of times, and whatever is not understood becomes `UNKNOWN`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from app.memory.task.expressions import MAX_UNROLL, Expressions
from app.memory.task.values import UNKNOWN, Class, Container, Function, Instance, Path, Scope

MAX_DEPTH = 40


class _Returned(Exception):
    """Carries a function's return value up to its call."""

    def __init__(self, value: Any) -> None:
        self.value = value


class _LoopControl(Exception):
    """``break`` or ``continue``."""

    def __init__(self, stops: bool) -> None:
        self.stops = stops


class Interpreter(Expressions):
    """Runs the statements of one module over abstract values."""

    def __init__(self) -> None:
        """Start with an empty trace and the whole budget."""
        super().__init__()
        self.depth = 0

    def run(self, statements: Sequence[ast.stmt], scope: Scope) -> None:
        """Follow statements in order."""
        for statement in statements:
            self.spend()
            handler = getattr(self, "_do_" + type(statement).__name__.lower(), None)
            if handler is not None:
                handler(statement, scope)

    def function(self, function: Function, positional: Sequence[Any], named: dict[str, Any]) -> Any:
        """Follow a call of a function of the module and return its value."""
        if self.depth >= MAX_DEPTH:
            return UNKNOWN
        node = function.node
        scope = Scope(self._bind(function, positional, named), function.scope)
        if function.owner is not None:
            scope.names.setdefault("__class__", function.owner)
        self.depth += 1
        try:
            if isinstance(node, ast.Lambda):
                return self.value(node.body, scope)
            self.run(node.body, scope)
        except _Returned as returned:
            return returned.value
        finally:
            self.depth -= 1
        return None

    def _bind(self, function: Function, positional: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
        arguments = function.node.args
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        values = [function.bound, *positional] if function.bound is not None else list(positional)
        bound: dict[str, Any] = {}
        for name, default in zip(reversed(names), reversed(arguments.defaults), strict=False):
            bound[name] = self.value(default, function.scope)
        for only, default_node in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            bound[only.arg] = UNKNOWN if default_node is None else self.value(default_node, function.scope)
        bound.update(zip(names, values, strict=False))
        known = set(names) | {only.arg for only in arguments.kwonlyargs}
        bound.update({name: value for name, value in named.items() if name in known})
        if arguments.vararg:
            bound[arguments.vararg.arg] = tuple(values[len(names) :])
        if arguments.kwarg:
            bound[arguments.kwarg.arg] = {name: value for name, value in named.items() if name not in known}
        return {name: bound.get(name, UNKNOWN) for name in (*names, *bound)}

    def assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        """Bind a target of an assignment."""
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Attribute):
            owner = self.value(target.value, scope)
            if isinstance(owner, Instance):
                owner.attributes[target.attr] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target.elts, value, scope)
        elif isinstance(target, ast.Subscript):
            self._store(target, value, scope)

    def _unpack(self, targets: list[ast.expr], value: Any, scope: Scope) -> None:
        parts = self.items(value)
        starred = next((i for i, target in enumerate(targets) if isinstance(target, ast.Starred)), None)
        if starred is not None and isinstance(targets[starred], ast.Starred):
            tail = len(targets) - starred - 1
            middle = parts[starred : len(parts) - tail]
            parts = [*parts[:starred], middle, *parts[len(parts) - tail :]]
        for index, target in enumerate(targets):
            inner = target.value if isinstance(target, ast.Starred) else target
            self.assign(inner, parts[index] if index < len(parts) else UNKNOWN, scope)

    def _store(self, target: ast.Subscript, value: Any, scope: Scope) -> None:
        owner, index = self.value(target.value, scope), self.value(target.slice, scope)
        if isinstance(owner, dict) and isinstance(index, (str, int)):
            owner[index] = value
        elif isinstance(owner, Container) and isinstance(index, (str, int)):
            owner.items[str(index)] = value
        elif isinstance(owner, list) and isinstance(index, int) and -len(owner) <= index < len(owner):
            owner[index] = value

    def _do_assign(self, node: ast.Assign, scope: Scope) -> None:
        value = self.value(node.value, scope)
        for target in node.targets:
            self.assign(target, value, scope)

    def _do_annassign(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value, scope), scope)

    def _do_augassign(self, node: ast.AugAssign, scope: Scope) -> None:
        current, value = self.value(node.target, scope), self.value(node.value, scope)
        self.assign(node.target, self.operate(type(node.op).__name__, current, value), scope)

    def _do_expr(self, node: ast.Expr, scope: Scope) -> None:
        self.value(node.value, scope)

    def _do_return(self, node: ast.Return, scope: Scope) -> None:
        raise _Returned(None if node.value is None else self.value(node.value, scope))

    def _do_if(self, node: ast.If, scope: Scope) -> None:
        self.run(node.body if self.truth(self.value(node.test, scope)) is not False else node.orelse, scope)

    def _do_for(self, node: ast.For, scope: Scope) -> None:
        for item in self.items(self.value(node.iter, scope)):
            self.assign(node.target, item, scope)
            if not self._once(node.body, scope):
                break

    def _do_while(self, node: ast.While, scope: Scope) -> None:
        for _ in range(MAX_UNROLL):
            if self.truth(self.value(node.test, scope)) is not True or not self._once(node.body, scope):
                break

    def _once(self, body: Sequence[ast.stmt], scope: Scope) -> bool:
        try:
            self.run(body, scope)
        except _LoopControl as control:
            return not control.stops
        return True

    def _do_break(self, node: ast.Break, scope: Scope) -> None:
        raise _LoopControl(stops=True)

    def _do_continue(self, node: ast.Continue, scope: Scope) -> None:
        raise _LoopControl(stops=False)

    def _do_with(self, node: ast.With, scope: Scope) -> None:
        self.run(node.body, scope)

    def _do_try(self, node: ast.Try, scope: Scope) -> None:
        self.run(node.body, scope)

    def _do_functiondef(self, node: ast.FunctionDef, scope: Scope) -> None:
        scope.names[node.name] = Function(node, scope)

    def _do_classdef(self, node: ast.ClassDef, scope: Scope) -> None:
        scope.names[node.name] = Class(node, scope, tuple(self.value(base, scope) for base in node.bases))

    def _do_import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            scope.names[alias.asname or alias.name.partition(".")[0]] = Path(
                alias.name if alias.asname else alias.name.partition(".")[0]
            )

    def _do_importfrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        for alias in node.names:
            scope.names[alias.asname or alias.name] = Path(f"{node.module or ''}.{alias.name}")
