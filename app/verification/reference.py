"""The judge's side of the reference: a handle to its process, a pool of handles, and moving tensors."""

import contextlib
import os
import tempfile
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from app.verification.child import Child, ChildFault, new_chunk_fd
from app.verification.problem import Problem
from app.verification.protocol import CHUNK_BYTES, Limits
from app.verification.sandbox import Cage

Ask = Callable[..., dict[str, Any]]
"""A bound `ask`: the name of a request and its arguments, to its answer."""

_MODULE = "app.verification.reference_process"
_REFERENCE_MEMORY = 2
"""The reference's process may take this many times the candidate's host memory: problems are large, not hostile."""


class ReferenceFault(Exception):
    """The reference's process failed: the fault of the problem or of the machine, never of a candidate."""

    def __init__(self, fault: ChildFault) -> None:
        super().__init__(str(fault))
        self.fault = fault

    @property
    def is_device_fault(self) -> bool:
        """Whether the GPU itself seems to be gone, rather than the problem being wrong."""
        if self.fault.error_type == "OutOfMemoryError":
            return False
        words = ("CUDA error", "device-side", "No CUDA GPUs", "CUDA driver", "cuDNN error: CUDNN_STATUS_NOT_INIT")
        return any(word in self.fault.detail for word in words)


class Reference:
    """A process that has one problem loaded. `gpu` is None on the CPU."""

    def __init__(self, problem: Problem, gpu: int | None, limits: Limits) -> None:
        self.problem = problem
        self.limits = limits
        self.is_usable = True
        self.chunk_fd = new_chunk_fd()
        self._scratch = tempfile.TemporaryDirectory(prefix="kpb-reference-")
        wide = limits.changed(host_memory=_REFERENCE_MEMORY * limits.host_memory, file_bytes=8 * 2**30)
        cage = Cage(wide, Path(self._scratch.name), uuid.uuid4().hex, gpu, isolated=False)
        self.child = Child(_MODULE, cage, self.chunk_fd)
        self._gpu = gpu
        self.loaded: dict[str, Any] = {}

    def load(self, seed: int) -> None:
        """Import the problem and build its model, once. Raises ReferenceFault."""
        if not self.loaded:
            size = "small" if self._gpu is None else "full"
            self.loaded = self.ask("load", path=str(self.problem.path.resolve()), size=size, seed=seed)
            self.loaded["seed"] = seed

    def ask(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Send one request. Raises ReferenceFault, after which this handle is not to be used again."""
        return self.ask_within(op, self.limits.reference_s, **arguments)

    def ask_within(self, op: str, seconds: float, **arguments: Any) -> dict[str, Any]:
        """Like `ask`, with another time limit than the session's."""
        try:
            return self.child.ask(op, seconds, **arguments)
        except ChildFault as fault:
            self.is_usable = False
            raise ReferenceFault(fault) from fault

    def close(self) -> None:
        """End the process and free the chunk."""
        self.child.close()
        self._scratch.cleanup()
        with contextlib.suppress(OSError):
            os.close(self.chunk_fd)


class ReferencePool:
    """References kept open while further candidates of the same problem wait. Safe for several threads."""

    def __init__(self, gpu: int | None, limits: Limits) -> None:
        self._gpu, self._limits = gpu, limits
        self._idle: dict[str, list[Reference]] = {}
        self._wanted: Counter[str] = Counter()
        self._lock = threading.Lock()

    def expect(self, problem: Problem) -> None:
        """Announce one more run of this problem."""
        self._wanted[problem.sha256] += 1

    @contextlib.contextmanager
    def borrow(self, problem: Problem, limits: Limits | None = None) -> Iterator[Reference]:
        """A reference for one run; kept afterwards when it is sound and somebody still waits for the problem."""
        with self._lock:
            idle = self._idle.get(problem.sha256, [])
            reference = idle.pop() if idle else None
        if reference is None:
            reference = Reference(problem, self._gpu, limits or self._limits)
        try:
            yield reference
        finally:
            with self._lock:
                self._wanted[problem.sha256] -= 1
                running = len(self._idle.get(problem.sha256, []))
                keep = reference.is_usable and self._wanted[problem.sha256] > running
                if keep:
                    self._idle.setdefault(problem.sha256, []).append(reference)
            if not keep:
                reference.close()

    @contextlib.contextmanager
    def fresh(self, problem: Problem, limits: Limits | None = None) -> Iterator[Reference]:
        """A reference that served nobody before and will serve nobody after."""
        reference = Reference(problem, self._gpu, limits or self._limits)
        try:
            yield reference
        finally:
            reference.close()

    def close(self) -> None:
        """Close what is idle."""
        with self._lock:
            idle = [reference for group in self._idle.values() for reference in group]
            self._idle.clear()
        for reference in idle:
            reference.close()


def move(giver: Ask, taker: Ask, size: int) -> None:
    """Carry `size` bytes of the giver's current stream to the taker's, chunk by chunk. Raises what they raise."""
    for offset in range(0, size, CHUNK_BYTES):
        giver("give", offset=offset)
        taker("take", offset=offset)
