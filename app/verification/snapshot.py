"""A timed output as it was when the clock stopped: what is computed later does not count."""

from typing import Any

import torch

from app.verification.exchange import specs_of, to_tree
from app.verification.stopwatch import Stopwatch

_COPY = torch.Tensor.copy_
_modes_on = (torch._C._len_torch_function_stack, torch._C._len_torch_dispatch_stack)


class ModeLeftOn(RuntimeError):
    """A torch mode that is still on after the call could compute when the output is read."""


class Snapshot:
    """Holds copies of one output's tensors; they are made anew only when its layout changes."""

    def __init__(self, stopwatch: Stopwatch | None) -> None:
        self._stopwatch = stopwatch
        self._tree: Any = None
        self._specs: list[dict[str, Any]] = []
        self.copies: list[torch.Tensor] = []

    def take(self, raw: Any, traced: bool = False) -> list[torch.Tensor]:
        """Copy the output now, wait for the copy, and return the output's tensors. `traced` is within one OpTrace.

        Raises UnsupportedValue and ModeLeftOn.
        """
        functions, dispatch = _modes_on
        if functions() or dispatch() > traced:
            raise ModeLeftOn("a torch mode was left on")
        tensors: list[torch.Tensor] = []
        self._tree = to_tree(raw, tensors)
        self._specs = specs_of(tensors)
        if [(t.shape, t.dtype) for t in tensors] != [(t.shape, t.dtype) for t in self.copies]:
            self.copies = [torch.empty(t.shape, dtype=t.dtype, device=t.device) for t in tensors]
        with torch.no_grad():
            for copy, tensor in zip(self.copies, tensors, strict=True):
                _COPY(copy, tensor)
        if self._stopwatch is not None:
            self._stopwatch.synchronize()
        return tensors

    def described(self) -> dict[str, Any]:
        """Tree and layouts of the output, as they were."""
        return {"tree": self._tree, "specs": self._specs}


def storage_of(tensor: torch.Tensor) -> tuple[int, int]:
    """Address and bytes of the memory that a tensor lies in."""
    storage = tensor.untyped_storage()
    return storage.data_ptr(), storage.nbytes()


def overlaps(start: int, size: int, ranges: list[tuple[int, int]]) -> bool:
    """Whether memory from `start` on shares a byte with one of the ranges (address, bytes)."""
    return size > 0 and any(start < at + length and at < start + size for at, length in ranges if length)
