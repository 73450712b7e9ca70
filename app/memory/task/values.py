"""Abstract values of the code reader: what an expression of a PyTorch module stands for, never a real tensor."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Shape = tuple[int, ...] | None


class Unknown:
    """Something the reader cannot follow. One value, `UNKNOWN`."""

    def __repr__(self) -> str:
        """Return a short name for explanations."""
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor: identity, shape in elements (None when not followed), origin and marks such as ``transposed``.

    `origin` is ``input``, ``parameter``, ``constant`` (a buffer or mask) or ``result``.
    """

    id: int
    shape: Shape = None
    origin: str = "result"
    marks: frozenset[str] = frozenset()

    @property
    def rank(self) -> int | None:
        """Number of axes, None when the shape is not known."""
        return None if self.shape is None else len(self.shape)

    @property
    def numel(self) -> int | None:
        """Number of elements, None when the shape is not known."""
        if self.shape is None:
            return None
        count = 1
        for extent in self.shape:
            count *= extent
        return count


@dataclass(frozen=True, slots=True)
class Path:
    """A dotted name outside the module, e.g. ``torch.nn.functional.relu``."""

    name: str

    @property
    def last(self) -> str:
        """The last component."""
        return self.name.rpartition(".")[2]


@dataclass(slots=True)
class Layer:
    """A ``torch.nn`` layer with its constructor arguments by name."""

    kind: str
    arguments: Mapping[str, Any]


@dataclass(slots=True)
class Container:
    """``nn.Sequential``, ``ModuleList`` or ``ModuleDict``: items in order, by key."""

    kind: str
    items: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Function:
    """A function or lambda of the module, with the scope it closes over and the instance it is bound to."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope
    bound: Any = None
    owner: Class | None = None


@dataclass(slots=True)
class Class:
    """A class of the module."""

    node: ast.ClassDef
    scope: Scope
    bases: tuple[Any, ...]

    def method(self, name: str) -> tuple[ast.FunctionDef, Class] | None:
        """Find a method here or in a base class of the module."""
        for statement in self.node.body:
            if isinstance(statement, ast.FunctionDef) and statement.name == name:
                return statement, self
        for base in self.bases:
            if isinstance(base, Class) and (found := base.method(name)):
                return found
        return None

    def library_base(self) -> str:
        """Return the last component of the first base that lies outside the module, '' if there is none."""
        for base in self.bases:
            if isinstance(base, Path):
                return base.last
            if isinstance(base, Class) and (name := base.library_base()):
                return name
        return ""


@dataclass(slots=True)
class Instance:
    """An object of a class of the module."""

    kind: Class
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Method:
    """A method of a tensor, container or path not yet called."""

    owner: Any
    name: str


@dataclass(slots=True)
class Scope:
    """Names visible at one place; lookups go outwards."""

    names: dict[str, Any]
    outer: Scope | None = None

    def find(self, name: str) -> Any:
        """Return the value of a name, `UNKNOWN` when nothing defines it."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return UNKNOWN


def integer(value: Any, default: int) -> int:
    """Return value when it is a plain integer, else default."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def extents(value: Any, dimensions: int, default: int) -> tuple[int, ...]:
    """Spread a scalar argument such as ``stride=2`` over dimensions; unknown parts become default."""
    if isinstance(value, (tuple, list)) and len(value) == dimensions:
        return tuple(integer(part, default) for part in value)
    if isinstance(value, (tuple, list)) and len(value) == 1:
        return (integer(value[0], default),) * dimensions
    return (integer(value, default),) * dimensions
