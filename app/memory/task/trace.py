"""The trace of a module: which operation consumed which tensors, in order of execution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from app.memory.task.values import Shape, Tensor

MAX_USES = 4000  # beyond this a network is "large" whatever follows


class BudgetSpent(Exception):
    """The module is longer than the reader is willing to follow; what was traced so far counts."""


@dataclass(frozen=True, slots=True)
class Use:
    """One executed operation. A name with a leading ``~`` is an arithmetic step outside the vocabulary (``~exp``)."""

    operation: str
    inputs: tuple[int, ...]
    output: int
    shape_in: Shape
    shape_out: Shape
    detail: Mapping[str, Any]


@dataclass(slots=True)
class Trace:
    """Collects uses and hands out tensor identities."""

    uses: list[Use] = field(default_factory=list)
    parameters: set[int] = field(default_factory=set)
    _next: int = 0

    def tensor(self, shape: Shape = None, origin: str = "result", marks: Iterable[str] = ()) -> Tensor:
        """Return a new tensor."""
        self._next += 1
        if origin == "parameter":
            self.parameters.add(self._next)
        return Tensor(self._next, shape, origin, frozenset(marks))

    def record(self, operation: str, inputs: Sequence[Any], shape: Shape, **detail: Any) -> Tensor:
        """Append one use and return its output tensor.

        Raises:
            BudgetSpent: the trace holds `MAX_USES` entries.
        """
        if len(self.uses) >= MAX_USES:
            raise BudgetSpent
        tensors = [value for value in inputs if isinstance(value, Tensor)]
        output = self.tensor(shape)
        first = tensors[0].shape if tensors else None
        self.uses.append(Use(operation, tuple(t.id for t in tensors), output.id, first, shape, detail))
        return output

    def view(self, source: Tensor, shape: Shape, *marks: str) -> Tensor:
        """Return the same data under another shape; layout changes are not operations of their own."""
        return replace(source, shape=shape, marks=source.marks | set(marks))


def reaching(uses: Sequence[Use], outputs: Iterable[int]) -> list[Use]:
    """Return the uses whose result reaches one of the output tensors, in order."""
    wanted = set(outputs)
    kept: list[Use] = []
    for use in reversed(uses):
        if use.output in wanted:
            wanted.update(use.inputs)
            kept.append(use)
    return kept[::-1]
