"""Problem files: what identifies one (no torch needed), and loading one inside the reference's process."""

import hashlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.errors import InvalidInput

_KERNELBENCH = re.compile(r"level(\d+)$")
_NUMBERED = re.compile(r"(\d+)_(.+)$")


class ProblemFault(Exception):
    """The problem file is at fault: it does not import, lacks a part, or its reference fails."""


@dataclass(frozen=True)
class Problem:
    """Identity of a problem: its file's content counts, numbers and names are for people."""

    path: Path
    origin: str
    level: int | None
    number: int | None
    name: str
    sha256: str

    @property
    def identity(self) -> dict[str, Any]:
        """What goes into a run's record. The path stays out: it means nothing on another machine."""
        return {
            "origin": self.origin, "level": self.level, "number": self.number, "name": self.name, "sha256": self.sha256,
        }  # fmt: skip


def read_problem(path: Path) -> Problem:
    """Identify the file; a KernelBench checkout is known by its folders `level1` to `level4` and numbered names.

    Raises InvalidInput when the file cannot be read.
    """
    try:
        content = path.read_bytes()
    except OSError as fault:
        raise InvalidInput(f"the problem {path.name} cannot be read: {fault.strerror}") from fault
    digest = hashlib.sha256(content).hexdigest()
    level, numbered = _KERNELBENCH.match(path.parent.name), _NUMBERED.match(path.stem)
    if level and numbered:
        return Problem(path, "kernelbench", int(level[1]), int(numbered[1]), numbered[2], digest)
    return Problem(path, "kernel-playbook", None, None, path.stem, digest)


@dataclass(frozen=True)
class LoadedProblem:
    """The parts of an imported problem file. `training` is the declared mode: train, unless MODE says eval."""

    model: Callable[..., Any]
    inputs: Callable[[], list[Any]]
    init_inputs: Callable[[], list[Any]]
    training: bool


def load_problem(path: Path, size: str) -> LoadedProblem:
    """Execute a problem file. `size` is `full` or `small`; files that know only one size give that.

    Raises ProblemFault.
    """
    space: dict[str, Any] = {"__name__": "problem", "__file__": str(path)}
    try:
        source = path.read_text(encoding="utf-8")
        exec(compile(source, str(path), "exec"), space)
    except (OSError, UnicodeDecodeError, SyntaxError) as fault:
        raise ProblemFault(f"the problem cannot be read: {fault}") from fault
    for name in ("Model", "get_inputs", "get_init_inputs"):
        if not callable(space.get(name)):
            raise ProblemFault(f"the problem defines no {name}")
    return LoadedProblem(
        space["Model"],
        _sized(space["get_inputs"], size),
        _sized(space["get_init_inputs"], size),
        space.get("MODE", "train") != "eval",
    )


def _sized(function: Callable[..., list[Any]], size: str) -> Callable[[], list[Any]]:
    if "size" in inspect.signature(function).parameters:
        return lambda: function(size=size)
    return lambda: function()
