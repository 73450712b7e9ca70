"""The rounds of timing in the candidate's process. `time`, `rehearse`, `burst` and `change_weights` are requests."""

import contextlib
from typing import Any

import torch

from app.verification.exchange import from_tree
from app.verification.generator_seeds import GeneratorSeeds
from app.verification.launches import Launches
from app.verification.op_trace import OpTrace
from app.verification.snapshot import Snapshot, overlaps, storage_of
from app.verification.stillness import Stillness
from app.verification.stopwatch import Stopwatch
from app.verification.timed_inputs import TimedInputs, change_weights


class CandidateTiming:
    """Calls on the addresses that the correctness cases used, on values that no call saw before."""

    def __init__(self, stopwatch: Stopwatch | None, launches: Launches, stillness: Stillness) -> None:
        self._stopwatch = stopwatch
        self._stillness = stillness
        self._launches = launches
        self._seed_generators = GeneratorSeeds()
        self.snapshot = Snapshot(stopwatch)
        self._timed: TimedInputs | None = None
        self._burst: Any = None
        self.is_traceable = False
        """Whether a call of forward succeeds while torch's operators are traced."""
        self.forget()

    def prepare(self, model: torch.nn.Module, tree: Any, inputs: list[torch.Tensor]) -> None:
        """Take over model and inputs; when it is asked again, the values that the inputs had the first time stay."""
        self._model, self._tree = model, tree
        self._timed = self._timed or TimedInputs([tensor.clone() for tensor in inputs], inputs)

    def forget(self) -> None:
        """The inputs have other values from now on."""
        self._timed = None
        self._seed = 0
        self._last: list[torch.Tensor] = []
        self._held: list[torch.Tensor] = []
        self._alias = ""

    def change_weights(self, names: list[str], seed: int) -> dict[str, Any]:
        """Other weights at the same addresses, while the run is timed."""
        change_weights(self._model, names, seed)
        return {}

    def renew_whole_numbers(self, drawn: list[torch.Tensor]) -> None:
        """Other inputs that are no floats. Raises RuntimeError before `prepare`."""
        if self._timed is None:
            raise RuntimeError("timing was not prepared")
        self._timed.renew_whole_numbers(drawn)

    def time(self, seed: int, settle: bool, hold_ms: float, counted: bool = False) -> dict[str, Any]:
        """One timed call on the inputs of `seed`. Milliseconds; launches and operators, none unless `counted`."""
        if self._stopwatch is None:
            raise RuntimeError("no timing without a GPU")
        stopwatch = self._stopwatch
        with contextlib.ExitStack() as contexts:
            trace = self._enter(contexts, counted)
            arguments = self._arguments(seed, trace)
            reading, raw = stopwatch.read(lambda: self._call(arguments), settle, hold_ms)
            self._stillness.look()
            self._keep(raw, trace is not None)
        return {**reading.as_answer(), **self._seen(counted, trace)}

    def rehearse(self, seed: int) -> dict[str, Any]:
        """What a counted `time` does, without a clock."""
        with contextlib.ExitStack() as contexts:
            trace = self._enter(contexts, counted=True)
            arguments = self._arguments(seed, trace)
            raw = self._call(arguments)
            self._stillness.look()
            self._keep(raw, trace is not None)
        return self._seen(True, trace)

    def burst(self, seeds: list[int], idle: bool) -> dict[str, Any]:
        """A call for each seed, back to back, for the judge to time from outside.

        `idle` leaves out the calls. The last output waits for `keep_burst`.
        """
        raw = None
        with contextlib.ExitStack() as contexts:
            self._enter(contexts, counted=False)
            for seed in seeds:
                arguments = self._arguments(seed)
                if not idle:
                    raw = self._call(arguments)
            if self._stopwatch is not None:
                self._stopwatch.synchronize()
            self._stillness.look()
        self._burst = raw
        return {}

    def keep_burst(self) -> dict[str, Any]:
        """Take the last output of the last burst for that of a timed call."""
        self._keep(self._burst)
        self._burst = None
        return {}

    def describe(self) -> dict[str, Any]:
        """The last timed output as it was when the clock stopped; whether inputs or earlier outputs were written to.

        The output stays alive for one more call, so that handing out its memory again is seen.
        """
        if self._timed is None:
            raise RuntimeError("timing was not prepared")
        self._held = self._last
        return {
            **self.snapshot.described(), "mutated": not self._timed.are_untouched(self._seed), "alias": self._alias
        }  # fmt: skip

    def _enter(self, contexts: contextlib.ExitStack, counted: bool) -> OpTrace | None:
        """All that surrounds a call, entered while the inputs still hold the values of the call before; the trace of
        torch's operators where there is one.
        """
        self._stillness.look()
        contexts.enter_context(torch.no_grad())
        if not counted:
            return None
        contexts.enter_context(self._launches.counting())
        return contexts.enter_context(OpTrace()) if self.is_traceable else None

    def _seen(self, counted: bool, trace: OpTrace | None) -> dict[str, Any]:
        """What a counted call launched, and what torch computed in it."""
        launches = self._launches.counted.total() if counted else 0
        return {"launches": launches, "operators": trace.most() if trace is not None else {}}

    def _arguments(self, seed: int, trace: OpTrace | None = None) -> Any:
        """The arguments with the values of `seed`, which are written last: whatever a candidate may have put in the
        place of a function that runs here does not see them before the clock does.
        """
        if self._timed is None:
            raise RuntimeError("timing was not prepared")
        self._last, self._seed = [], seed
        arguments = from_tree(self._tree, self._timed.tensors)
        self._seed_generators(seed)
        self._timed.refresh(seed)
        if trace is not None:
            trace.counted.clear()
        return arguments

    def _call(self, arguments: Any) -> Any:
        self._stillness.begin_call()
        raw = self._model(*arguments)
        self._stillness.end_call()
        return raw

    def _keep(self, raw: Any, traced: bool = False) -> None:
        self._last = self.snapshot.take(raw, traced)
        held = [storage_of(tensor) for tensor in self._held]
        if any(overlaps(*storage_of(tensor), held) for tensor in self._last):
            self._alias = "previous output"
        self._held = []
