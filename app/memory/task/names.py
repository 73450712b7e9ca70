"""Reads the name of a benchmark problem, e.g. ``ConvTranspose3d_ReLU_GroupNorm``, into its operations."""

from __future__ import annotations

import re

from app.memory.lexicon import Lexicon
from app.memory.task.profile import OperationUse
from app.memory.task.prose import read_prose

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")
_REGIMES = (("strided", "strided"), ("dilated", "dilated"), ("grouped", "grouped"), ("asymmetric_kernel",
             "asymmetric_kernel"),
            ("square_kernel", "square_kernel"), ("Bidirectional", "bidirectional"), ("large_K", "huge_k"))  # fmt: skip


def read_problem_name(name: str, lexicon: Lexicon) -> tuple[tuple[OperationUse, ...], dict[str, bool]]:
    """Return the operations a problem's name lists, in order, and the regimes it mentions."""
    spaced = name.replace("_", " ").strip()
    reading = read_prose(spaced, lexicon)
    if not reading.matches:
        reading = read_prose(_CAMEL.sub(" ", spaced), lexicon)
    operations = tuple(OperationUse(match.operation, 0.95, "name", name) for match in reading.matches)
    return operations, {regime: True for mark, regime in _REGIMES if mark in name}
