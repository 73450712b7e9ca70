"""What a task asks for, as a frozen value: the result of `read_task` and the input of ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

MAX_OPERATIONS = 40
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OperationUse:
    """One operation of the task: its vocabulary name, how sure the reading is, and where it was seen.

    `certainty` is in (0, 1]: 1 for code and named operations, less for phrasings. `source` is ``code``, ``name``,
    ``formula``, ``phrase`` or ``embedding``; `seen` quotes what was recognised. `detail` holds what is known of it,
    e.g. kernel, stride, groups, axes or layout (see `layers.py`).
    """

    name: str
    certainty: float = 1.0
    source: str = "code"
    seen: str = ""
    detail: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that was understood, in words for a person."""

    about: str
    says: str


@dataclass(frozen=True, slots=True)
class TaskProfile:
    """A task as the ranking sees it.

    `operations` are in order of execution as far as known, at most `MAX_OPERATIONS`, composites first. `regimes` maps a
    regime of the vocabulary to True (holds) or False (known not to hold); a missing regime is unknown, and `assumed`
    lists unknown ones that usually hold for such a task. `tolerance` is the
    absolute error the task allows. `confidence` in [0, 1] says how far the operations were read rather than guessed;
    the sentence model is worth asking only where it is low.
    """

    operations: tuple[OperationUse, ...] = ()
    dominant: str | None = None
    family: str = ""
    level: int | None = None
    problem_name: str | None = None
    shapes: tuple[Shape, ...] = ()
    groups: int | None = None
    stride: tuple[int, ...] | None = None
    reduction_axes: tuple[int, ...] | None = None
    gemm_layout: str | None = None
    norm_mode: str | None = None
    dtype: str | None = None
    tolerance: float | None = None
    regimes: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}))
    assumed: frozenset[str] = frozenset()
    confidence: float = 0.0
    evidence: tuple[Evidence, ...] = ()

    @property
    def chain(self) -> tuple[str, ...]:
        """Operation names in order."""
        return tuple(use.name for use in self.operations)

    def certainty(self, name: str) -> float:
        """Return how surely the task contains an operation, 0 if it does not."""
        return max((use.certainty for use in self.operations if use.name == name), default=0.0)
