"""The program that holds the reference: inputs, weights, expected outputs and tolerances. Candidates never run here."""

import copy
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from app.verification.compare import (
    Comparison,
    compare_by_oracle,
    compare_values,
    finite_alike,
    is_degenerate,
    layout_mismatch,
)
from app.verification.compiled import try_to_compile
from app.verification.exchange import ByteStream, Chunk, UnsupportedValue, allocate, from_tree, specs_of, to_tree
from app.verification.machine import describe_machine
from app.verification.op_trace import OpTrace
from app.verification.problem import ProblemFault, load_problem
from app.verification.service import end_with_parent, serve
from app.verification.stopwatch import Stopwatch
from app.verification.timed_inputs import TimedInputs, change_weights
from app.verification.variation import (
    change_attempts,
    change_one_element,
    changeable,
    draw_inputs,
    modulate,
    randomise_weights,
)
from app.verification.wire import Wire

_INERT = "the reference does not react to a change"


class ReferenceProcess:
    """State between requests; public methods are requests."""

    def __init__(self, chunk_fd: int) -> None:
        on_gpu = torch.cuda.is_available()
        self.device = torch.device("cuda:0" if on_gpu else "cpu")
        self.chunk = Chunk(chunk_fd, pin=on_gpu)
        self.stopwatch = Stopwatch(self.device) if on_gpu else None
        self.inputs: list[torch.Tensor] = []
        self.expected: list[torch.Tensor] = []
        self.previous: list[torch.Tensor] = []
        self.outgoing: list[torch.Tensor] = []
        self.incoming: list[torch.Tensor] = []
        self.compiled: Callable[..., Any] | None = None
        self.timed: TimedInputs | None = None

    def load(self, path: str, size: str, seed: int) -> dict[str, Any]:
        """Import the problem and build its model. Raises ProblemFault."""
        self.problem = load_problem(Path(path), size)
        tensors: list[torch.Tensor] = []
        try:
            init = self.problem.init_inputs()
            tree = to_tree(list(init), tensors)
        except UnsupportedValue as fault:
            raise ProblemFault(f"an init input is {fault}") from fault
        if tensors:
            raise ProblemFault("an init input is a tensor")
        torch.manual_seed(seed)
        with torch.device(self.device):
            model = self.problem.model(*init)
        if not isinstance(model, torch.nn.Module):
            raise ProblemFault("Model is not a torch.nn.Module")
        self.model = model.to(self.device).train(self.problem.training)
        state = self.model.state_dict()
        self.initial = {name: tensor.clone() for name, tensor in state.items()}
        return {
            "init": tree, "training": self.problem.training, "keys": list(state),
            "parameters": [name for name, _ in self.model.named_parameters(remove_duplicate=False)],
            "specs": specs_of(list(state.values())),
        }  # fmt: skip

    def case(self, name: str, seed: int) -> dict[str, Any]:
        """Prepare one correctness case: weights, inputs and the expected output; describe the inputs."""
        self.seed = seed
        self.previous, self.expected, self.timed = self.expected, [], None
        if name == "initial weights":
            self.model.load_state_dict(self.initial)
            self.previous = []
        if name == "random weights":
            randomise_weights(self.model, seed)
        note = ""
        if name == "one element changed":
            note = self._change_one_element(seed)
        else:
            self.tree, self.inputs = draw_inputs(self.problem, self.device, seed)
            if name == "modulated inputs":
                note = self._modulate(seed)
        self._expect()
        is_inert = note == _INERT and bool(changeable(self.inputs))
        return {
            "tree": self.tree, "specs": specs_of(self.inputs), "note": note, "mutates": self.mutates,
            "aliases": self.aliases, "degenerate": is_inert or is_degenerate(self.expected),
        }  # fmt: skip

    def offer(self, what: str) -> dict[str, Any]:
        """Make weights or inputs ready for `give`."""
        tensors = list(self.model.state_dict().values()) if what == "weights" else self.inputs
        self.outgoing = [tensor.detach().contiguous() for tensor in tensors]
        self.stream = ByteStream(self.outgoing)
        return {"size": self.stream.size, "specs": specs_of(tensors)}

    def give(self, offset: int) -> dict[str, Any]:
        """Copy bytes into the chunk."""
        return {"given": self.stream.write_chunk(self.chunk, offset)}

    def expect_output(self, tree: Any, specs: list[dict[str, Any]]) -> dict[str, Any]:
        """Compare layouts; when they agree, make room for the bytes."""
        own = {"tree": self.expected_tree, "specs": self.expected_specs}
        found = layout_mismatch(own, {"tree": tree, "specs": specs})
        if not found.mismatch:
            self.incoming = allocate(specs, self.device, 2**63)
            self.stream = ByteStream(self.incoming)
            return {**found.to_json(), "size": self.stream.size}
        return found.to_json()

    def take(self, offset: int) -> dict[str, Any]:
        """Copy the chunk's bytes into the candidate's output."""
        return {"taken": self.stream.read_chunk(self.chunk, offset)}

    def compare(self) -> dict[str, Any]:
        """Compare what was taken with what is expected; against fp64 where they disagree.

        `stale` tells that a wrong output is the right one of the case before.
        """
        found = compare_values(self.expected, self.incoming)
        if found.mismatch == "value":
            found = self._against_oracle(found)
        stale = bool(found.mismatch) and self._is_previous(self.incoming)
        self.incoming = []
        return {**found.to_json(), "stale": stale}

    def compile(self) -> dict[str, Any]:
        """Compile the reference with torch.compile and run it once. A failure is an answer, not a fault."""
        self.compiled, reason = try_to_compile(self.model, from_tree(self.tree, self.inputs))
        return {"compiled": not reason, "reason": reason}

    def prepare_timing(self) -> dict[str, Any]:
        """Copy the inputs, so that rounds may change them; bytes that a call must move at the least.

        Asked again, the rounds start from the same values: `expect_timed` has put others in the inputs' place.
        """
        self.incoming, self.outgoing, self.stream = [], [], ByteStream([])
        self.timed = self.timed or TimedInputs(self.inputs, [tensor.clone() for tensor in self.inputs])
        written = sum(t.numel() * t.element_size() for t in self.expected)
        return {"output_bytes": written, "has_float_inputs": any(t.is_floating_point() for t in self.inputs)}

    def change_weights(self, names: list[str], seed: int) -> dict[str, Any]:
        """Other weights at the same addresses, for what is timed from now on."""
        change_weights(self.model, names, seed)
        return {}

    def renew_whole_numbers(self, seed: int) -> dict[str, Any]:
        """Inputs that are no floats, drawn anew and ready for `give`; none where the problem draws other shapes."""
        self.outgoing = []
        if self.timed is not None and self.timed.whole_numbers:
            self.outgoing = self.timed.renew_whole_numbers(draw_inputs(self.problem, self.device, seed)[1])
        self.stream = ByteStream(self.outgoing)
        return {"size": self.stream.size, "specs": specs_of(self.outgoing)}

    def trace(self) -> dict[str, Any]:
        """Operators of torch that compute something in one call on the present inputs."""
        with OpTrace() as trace:
            try:
                self._call(self.model, [tensor.clone() for tensor in self.inputs], self.seed)
            except (RuntimeError, ValueError, TypeError, AttributeError, IndexError, AssertionError):
                return {"operators": {}}
        return {"operators": dict(trace.counted)}

    def time(self, side: str, seed: int, settle: bool, hold_ms: float) -> dict[str, Any]:
        """One timed call of `eager` or `compile`. Milliseconds."""
        if self.stopwatch is None or self.timed is None:
            raise RuntimeError("no timing without a GPU")
        self.timed.refresh(seed)
        arguments = from_tree(self.tree, self.timed.tensors)
        call = self.compiled if side == "compile" and self.compiled is not None else self.model
        torch.manual_seed(seed)
        with torch.no_grad():
            reading, result = self.stopwatch.read(lambda: call(*arguments), settle, hold_ms)
        del result
        return reading.as_answer()

    def expect_timed(self, seed: int) -> dict[str, Any]:
        """Recompute what a timed round should have given, as the expectation of the next comparison."""
        if self.timed is None:
            raise RuntimeError("timing was not prepared")
        self.timed.refresh(seed)
        self.seed, self.inputs = seed, self.timed.tensors
        self.previous = self.expected
        self._expect()
        return {"mutates": self.mutates, "aliases": self.aliases}

    def describe_machine(self) -> dict[str, Any]:
        """What the fingerprint tells of the machine (machine.py)."""
        return describe_machine(self.device)

    def health(self) -> dict[str, Any]:
        """A small sum on the device, and the bytes that are free on it."""
        ok = float(torch.ones(1024, device=self.device).sum()) == 1024.0
        free = torch.cuda.mem_get_info(self.device)[0] if self.device.type == "cuda" else 0
        return {"ok": ok, "free": free}

    def forget(self) -> dict[str, Any]:
        """Drop what the last candidate needed; the problem stays loaded."""
        self.inputs, self.expected, self.previous = [], [], []
        self.incoming, self.outgoing, self.timed = [], [], None
        self.stream = ByteStream([])
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        return {}

    def _is_previous(self, given: list[torch.Tensor]) -> bool:
        if [t.shape for t in self.previous] != [t.shape for t in given] or not given:
            return False
        return not compare_values(self.previous, given).mismatch

    def _modulate(self, seed: int) -> str:
        plain = self.inputs
        self.inputs = modulate(plain, seed)
        self._expect()
        if all(bool(t.isfinite().all()) for t in self.expected if t.is_floating_point()):
            return ""
        self.inputs = plain
        return "modulated inputs leave the reference's domain; plain ones used"

    def _change_one_element(self, seed: int) -> str:
        """Change inputs until the reference's own output moves beyond the tolerance, and stays finite where it was. A
        degenerate output is to be found out, not to be moved by outliers.
        """
        base, before = self.inputs, self.previous
        for attempt in change_attempts(base, with_outliers=not is_degenerate(before)):
            self.inputs = change_one_element(base, attempt, seed)
            self._expect()
            if compare_values(before, self.expected).mismatch and finite_alike(before, self.expected):
                return f"attempt {attempt + 1}"
        return _INERT

    def _expect(self) -> None:
        inputs = [tensor.clone() for tensor in self.inputs]
        result = self._call(self.model, inputs, self.seed)
        tensors: list[torch.Tensor] = []
        try:
            self.expected_tree = to_tree(result, tensors)
        except UnsupportedValue as fault:
            raise ProblemFault(f"the reference returns {fault}") from fault
        self.expected_specs = specs_of(tensors)
        addresses = {tensor.untyped_storage().data_ptr() for tensor in inputs}
        self.aliases = any(tensor.untyped_storage().data_ptr() in addresses for tensor in tensors)
        self.mutates = not all(torch.equal(a, b) for a, b in zip(inputs, self.inputs, strict=True))
        self.expected = [tensor.detach().clone(memory_format=torch.contiguous_format) for tensor in tensors]

    def _call(self, model: Callable[..., Any], inputs: list[torch.Tensor], seed: int) -> Any:
        torch.manual_seed(seed)
        with torch.no_grad():
            result = model(*from_tree(self.tree, inputs))
        self._synchronize()
        return result

    def _against_oracle(self, found: Comparison) -> Comparison:
        """The reference in float64 on the same values; when that cannot run, the first finding stands."""
        double = copy.deepcopy(self.model).double()
        inputs = [tensor.double() if tensor.is_floating_point() else tensor.clone() for tensor in self.inputs]
        tensors: list[torch.Tensor] = []
        try:
            to_tree(self._call(double, inputs, self.seed), tensors)
        except RuntimeError:
            return found
        oracle = [tensor.contiguous() for tensor in tensors]
        return compare_by_oracle(oracle, self.expected, self.incoming)

    def _synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()


def main() -> None:
    """Entry point: the wire's and the chunk's file descriptors are the two arguments."""
    end_with_parent()
    wire_fd, chunk_fd = int(sys.argv[1]), int(sys.argv[2])
    process = ReferenceProcess(chunk_fd)
    names = (
        "load", "case", "offer", "give", "expect_output", "take", "compare", "trace", "compile", "prepare_timing",
        "change_weights", "renew_whole_numbers", "time", "expect_timed", "health", "describe_machine", "forget",
    )  # fmt: skip
    serve(Wire.from_fd(wire_fd), {name: getattr(process, name) for name in names})
    os._exit(0)


if __name__ == "__main__":
    main()
