"""The rounds of timing in the candidate's process. `time`, `rehearse`, `burst` and `change_weights` are requests."""

import contextlib
from typing import Any

import torch

from app.verification.exchange import from_tree
from app.verification.generator_seeds import GeneratorSeeds
from app.verification.launches import Launches
from app.verification.snapshot import Snapshot, overlaps, storage_of
from app.verification.stopwatch import Stopwatch
from app.verification.timed_inputs import TimedInputs, change_weights

_BURST_STRIDE = 1_000_003
"""Between the seeds of the calls of a burst."""


class CandidateTiming:
    """Calls on the addresses that the correctness cases used, on values that no call saw before."""

    def __init__(self, stopwatch: Stopwatch | None, launches: Launches) -> None:
        self._stopwatch = stopwatch
        self._launches = launches
        self._seed_generators = GeneratorSeeds()
        self.snapshot = Snapshot(stopwatch)
        self._timed: TimedInputs | None = None
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

    def change_weights(self, names: list[str], factor: float) -> dict[str, Any]:
        """Other weights at the same addresses, once while the run is timed."""
        change_weights(self._model, names, factor)
        return {}

    def time(self, seed: int, settle: bool, hold_ms: float, counted: bool = False) -> dict[str, Any]:
        """One timed call on the inputs of `seed`. Milliseconds; the number of launches, 0 unless `counted`."""
        if self._stopwatch is None:
            raise RuntimeError("no timing without a GPU")
        stopwatch, model = self._stopwatch, self._model
        with contextlib.ExitStack() as contexts:
            self._enter(contexts, counted)
            arguments = self._arguments(seed)
            reading, raw = stopwatch.read(lambda: model(*arguments), settle, hold_ms)
        self._keep(raw)
        launches = self._launches.counted.total() if counted else 0
        return {**reading.as_answer(), "launches": launches}

    def rehearse(self, seed: int) -> dict[str, Any]:
        """What a counted `time` does, without a clock."""
        with contextlib.ExitStack() as contexts:
            self._enter(contexts, counted=True)
            arguments = self._arguments(seed)
            raw = self._model(*arguments)
        self._keep(raw)
        return {"launches": self._launches.counted.total()}

    def burst(self, seed: int, count: int, idle: bool) -> dict[str, Any]:
        """`count` calls back to back, each on inputs of its own, for the judge to time from outside.

        `idle` leaves out the calls.
        """
        with contextlib.ExitStack() as contexts:
            self._enter(contexts, counted=False)
            for step in range(count):
                arguments = self._arguments(seed + _BURST_STRIDE * step)
                if not idle:
                    self._model(*arguments)
        if self._stopwatch is not None:
            self._stopwatch.synchronize()
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

    def _enter(self, contexts: contextlib.ExitStack, counted: bool) -> None:
        """All that surrounds a call, entered while the inputs still hold the values of the call before."""
        contexts.enter_context(torch.no_grad())
        if counted:
            contexts.enter_context(self._launches.counting())

    def _arguments(self, seed: int) -> Any:
        """The arguments with the values of `seed`, which are written last: whatever a candidate may have put in the
        place of a function that runs here does not see them before the clock does.
        """
        if self._timed is None:
            raise RuntimeError("timing was not prepared")
        self._last, self._seed = [], seed
        arguments = from_tree(self._tree, self._timed.tensors)
        self._seed_generators(seed)
        self._timed.refresh(seed)
        return arguments

    def _keep(self, raw: Any) -> None:
        self._last = self.snapshot.take(raw)
        held = [storage_of(tensor) for tensor in self._held]
        if any(overlaps(*storage_of(tensor), held) for tensor in self._last):
            self._alias = "previous output"
        self._held = []
