"""The program that runs a candidate. It gives no verdict, answers with bytes and readings, and knows no secret."""

import importlib.util
import os
import sys
from typing import Any

import torch

from app.verification.audit import Audit, watched_functions
from app.verification.candidate_module import import_source
from app.verification.candidate_timing import CandidateTiming
from app.verification.exchange import ByteStream, Chunk, allocate, from_tree, specs_of, to_tree
from app.verification.free_memory import FreeMemory
from app.verification.interpreter import install_shims
from app.verification.kernel_names import OPAQUE_EXTENSION
from app.verification.launches import Launches, poison
from app.verification.op_trace import OpTrace
from app.verification.profiling import Profiler
from app.verification.service import end_with_parent, serve
from app.verification.snapshot import overlaps, storage_of
from app.verification.stillness import Stillness
from app.verification.stopwatch import Stopwatch
from app.verification.timed_inputs import same_bytes
from app.verification.wire import Wire

_LOAD_STATE = torch.nn.Module.load_state_dict
_HELD_OUTPUTS = 3
"""Outputs that are kept alive, so that none of them is handed out again unseen."""


class CandidateProcess:
    """State between requests. Each public method is one request; its arguments and result are JSON."""

    def __init__(self, chunk_fd: int) -> None:
        on_gpu = torch.cuda.is_available()
        self.device = torch.device("cuda:0" if on_gpu else "cpu")
        self.chunk = Chunk(chunk_fd, pin=on_gpu)
        self.launches = Launches()
        self.launches.install(interpreted=not on_gpu)
        self.has_triton = _is_installed("triton")
        self.shims = [] if on_gpu else install_shims()
        self.stopwatch = Stopwatch(self.device) if on_gpu else None
        self.free_memory = FreeMemory() if on_gpu else None
        self.profiler = Profiler(self.stopwatch) if self.stopwatch is not None else None
        self.incoming: list[torch.Tensor] = []
        self.inputs: list[torch.Tensor] = []
        self.tree: Any = None
        self.raw: Any = None
        self.raw_tensors: list[torch.Tensor] = []
        self.outputs: list[torch.Tensor] = []
        self.held: list[list[torch.Tensor]] = []
        stillness = Stillness(watched_functions())
        self.timing = CandidateTiming(self.stopwatch, self.launches, stillness)
        on_gpu_only = (self.stopwatch, self.free_memory, self.profiler)
        tools = [self.launches, self.timing, self.timing.snapshot, stillness, *filter(None, on_gpu_only)]
        self.audit = Audit(tools, stillness)

    def hello(self) -> dict[str, Any]:
        """That the process is up: its device, whether triton is there, and which shims were put in place."""
        return {"device": self.device.type, "triton": self.has_triton, "shims": self.shims}

    def load(self, source: str, limit: int) -> dict[str, Any]:
        """Import the source. `limit` is the device memory it may take, in bytes."""
        if self.device.type == "cuda":
            total = torch.cuda.get_device_properties(self.device).total_memory
            torch.cuda.set_per_process_memory_fraction(min(1.0, limit / total))
        self.space = import_source(source, interpreted=self.device.type == "cpu")
        return {}

    def build(self, entry_point: str, init: Any, seed: int, training: bool) -> dict[str, Any]:
        """Build the model under the seed, as the reference was built."""
        torch.manual_seed(seed)
        model = getattr(self.space, entry_point)(*from_tree(init, []))
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"{entry_point} is not a torch.nn.Module")
        self.model = model.to(self.device).train(training)
        return {}

    def expect(self, specs: list[dict[str, Any]], limit: int) -> dict[str, Any]:
        """Make room for tensors that will arrive through the chunk."""
        self.incoming = allocate(specs, self.device, limit)
        self.stream = ByteStream(self.incoming)
        return {"size": self.stream.size}

    def take(self, offset: int) -> dict[str, Any]:
        """Copy the chunk into the expected tensors."""
        return {"taken": self.stream.read_chunk(self.chunk, offset)}

    def set_weights(self, keys: list[str]) -> dict[str, Any]:
        """Strict load_state_dict of what arrived, into the addresses that the model has already."""
        _LOAD_STATE(self.model, dict(zip(keys, self.incoming, strict=True)), strict=True)
        self.incoming = []
        return {}

    def set_inputs(self, tree: Any, strides: list[list[int]]) -> dict[str, Any]:
        """Write what arrived into the input tensors; they keep their addresses while shapes stay the same."""
        same = len(self.inputs) == len(self.incoming) and all(
            old.shape == new.shape and old.dtype == new.dtype
            for old, new in zip(self.inputs, self.incoming, strict=True)
        )
        if not same:
            self.inputs = [
                torch.empty_strided(tensor.shape, stride, dtype=tensor.dtype, device=self.device)
                for tensor, stride in zip(self.incoming, strides, strict=True)
            ]
        for old, new in zip(self.inputs, self.incoming, strict=True):
            old.copy_(new)
        self.tree, self.incoming = tree, []
        self.timing.forget()
        return {}

    def run_knocked_out(self, seed: int, leaving_ones: bool) -> dict[str, Any]:
        """One call in which no kernel has an effect. A call that fails for that reason is an answer too."""
        sizes = self._sizes_that_matter()
        self._forget_output()
        before = [tensor.clone() for tensor in self.inputs]
        self._poison_free_memory(sizes)
        try:
            with self.launches.knocked_out(leaving_ones):
                self._forward(seed)
            found = self._described_output()
        except Exception:  # noqa: BLE001 - what comes of nonsense values is the candidate's own
            found = {"failed": True}
        finally:
            for tensor, old in zip(self.inputs, before, strict=True):
                tensor.copy_(old)
        return {"failed": False, **found, "held_back": sum(self.launches.counted.values())}

    def run(self, seed: int) -> dict[str, Any]:
        """One call of forward on the present inputs; what came back, what was touched, which kernels were launched."""
        self.held = [*self.held, self.raw_tensors][-_HELD_OUTPUTS:]
        previous = [storage_of(tensor) for held in self.held for tensor in held]
        before = [tensor.clone() for tensor in self.inputs]
        self._poison_free_memory(self._sizes_that_matter())
        with self.launches.counting():
            self._forward(seed)
        facts = {
            "mutated": not all(map(same_bytes, before, self.inputs)),
            "alias": self._alias(previous),
            "launches": self._counted(),
        }
        return {**self._described_output(), **facts}

    def trace(self, seed: int) -> dict[str, Any]:
        """Operators of torch that compute something in one call; none where it fails under the trace."""
        with OpTrace() as trace:
            try:
                self._forward(seed)
            except Exception:  # noqa: BLE001 - a mode of torch may break what the candidate does by itself
                return {"operators": {}}
        self.timing.is_traceable = True
        return {"operators": trace.most()}

    def describe(self) -> dict[str, Any]:
        """The output that was timed last."""
        described = self.timing.describe()
        self.stream = ByteStream(self.timing.snapshot.copies)
        return {**described, "size": self.stream.size}

    def give(self, offset: int) -> dict[str, Any]:
        """Copy the last output's bytes into the chunk."""
        return {"given": self.stream.write_chunk(self.chunk, offset)}

    def changes(self) -> dict[str, Any]:
        """What the candidate changed in this process."""
        return self.audit.changes()

    def profile(self, seed: int, hold_ms: float) -> dict[str, Any]:
        """Kernels of one call, with a marker kernel before it."""
        if self.profiler is None:
            return {"marker": False, "kernels": {}, "total_us": 0.0, "streams": 0}
        return self.profiler.profile(lambda: self._forward(seed), hold_ms)

    def set_whole_numbers(self) -> dict[str, Any]:
        """Other inputs that are no floats, for what is timed from now on."""
        self.timing.renew_whole_numbers(self.incoming)
        self.incoming = []
        return {}

    def prepare_timing(self) -> dict[str, Any]:
        """Keep a copy of the inputs, so that rounds may change them where they lie. Asked again, they start anew."""
        self._forget_output()
        self.raw, self.held = None, []
        self.timing.prepare(self.model, self.tree, self.inputs)
        return {}

    def _counted(self) -> dict[str, int]:
        opaque = {OPAQUE_EXTENSION: 1} if self.launches.has_opaque_extension else {}
        return dict(self.launches.counted.most_common(50)) | opaque

    def _forward(self, seed: int) -> None:
        arguments = from_tree(self.tree, self.inputs)
        torch.manual_seed(seed)
        with torch.no_grad():
            self.raw = self.model(*arguments)
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def _described_output(self) -> dict[str, Any]:
        tensors: list[torch.Tensor] = []
        tree = to_tree(self.raw, tensors)
        specs = specs_of(tensors)
        self.raw_tensors = tensors
        self.outputs = [tensor.contiguous() for tensor in tensors]
        self.stream = ByteStream(self.outputs)
        return {"tree": tree, "specs": specs, "size": self.stream.size}

    def _alias(self, previous: list[tuple[int, int]]) -> str:
        tensors: list[torch.Tensor] = []
        to_tree(self.raw, tensors)
        inputs = [storage_of(tensor) for tensor in self.inputs]
        for address, size in map(storage_of, tensors):
            if overlaps(address, size, inputs):
                return "input"
            if overlaps(address, size, previous):
                return "previous output"
        return ""

    def _forget_output(self) -> None:
        self.raw, self.raw_tensors, self.outputs = None, [], []
        self.stream = ByteStream([])

    def _sizes_that_matter(self) -> set[int]:
        return {t.numel() * t.element_size() for t in (*self.outputs, *self.inputs)}

    def _poison_free_memory(self, sizes: set[int]) -> None:
        """Leave 0xFF bytes in free memory, so that what nobody wrote cannot look right: on the GPU in all that the
        allocator keeps, on the CPU in freed blocks of these sizes."""
        self.outputs, self.stream = [], ByteStream([])
        _poison_blocks(sizes, self.device)
        if self.free_memory is not None:
            self.free_memory.poison()


def _poison_blocks(sizes: set[int], device: torch.device) -> None:
    """Allocate, fill and free two blocks of each size, so that the allocator has them to give."""
    for block in [torch.empty(size, dtype=torch.uint8, device=device) for size in sizes for _ in range(2) if size]:
        poison(block)


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def main() -> None:
    """Entry point: the wire's and the chunk's file descriptors are the two arguments."""
    end_with_parent()
    wire_fd, chunk_fd = int(sys.argv[1]), int(sys.argv[2])
    process = CandidateProcess(chunk_fd)
    names = (
        "hello", "load", "build", "expect", "take", "set_weights", "set_inputs", "run", "run_knocked_out", "trace",
        "describe", "give", "changes", "profile", "prepare_timing", "set_whole_numbers",
    )  # fmt: skip
    handlers = {name: getattr(process, name) for name in names}
    handlers |= {
        name: getattr(process.timing, name) for name in ("change_weights", "time", "rehearse", "burst", "keep_burst")
    }
    serve(Wire.from_fd(wire_fd), handlers)
    os._exit(0)


if __name__ == "__main__":
    main()
