"""Timing one call on the GPU, the same code in the reference's process and in the candidate's.

Everything used is taken from torch's C layer when the object is made, which is before a candidate is imported.
"""

import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from app.verification.protocol import L2_FLUSH_FACTOR

_CALIBRATION_CYCLES = 2_000_000


@dataclass(frozen=True)
class Reading:
    """One timed call. Milliseconds: until the caller's stream was done, until the whole device was, and until the host
    had enqueued the call, by its own clock.
    """

    stream_ms: float
    device_ms: float
    enqueue_ms: float

    def as_answer(self) -> dict[str, float]:
        """The entries of an answer to the judge."""
        return {"stream_ms": self.stream_ms, "device_ms": self.device_ms, "enqueue_ms": self.enqueue_ms}


class Stopwatch:
    """Holds the flush buffer, the caller's stream and the bound C functions."""

    def __init__(self, device: torch.device) -> None:
        properties = torch.cuda.get_device_properties(device)
        self._stream = torch.cuda.default_stream(device)
        self._event: Callable[..., Any] = torch._C._CudaEventBase
        self._synchronize: Callable[[], None] = torch._C._cuda_synchronize
        self._flush = torch.empty(L2_FLUSH_FACTOR * properties.L2_cache_size, dtype=torch.uint8, device=device)
        self._fill: Callable[..., Any] = self._flush.fill_
        self._reset_persisting = _driver_function("cuCtxResetPersistingL2Cache")
        self._clock = time.perf_counter
        self._spin: Callable[[int], None] = torch._C._cuda_sleep
        self._per_ms = self._cycles_per_ms()

    def read(self, call: Callable[[], Any], settle: bool, hold_ms: float) -> tuple[Reading, Any]:
        """Flush the L2 cache, run `call` once, and tell how long it took and what it returned.

        The host enqueues the call while the device flushes and is then held, so that the latency of its first launches
        does not count as device time. `settle` waits for the flush and does not hold: for candidates on other streams,
        which would start meanwhile.
        """
        start, end_of_stream, end_of_device = self._events(3)
        self._reset_persisting()
        self._synchronize()
        if settle:
            self._fill(1)
            self._synchronize()
        else:
            self.hold(hold_ms)
        start.record(self._stream)
        began = self._clock()
        result = call()
        enqueue_ms = (self._clock() - began) * 1000
        end_of_stream.record(self._stream)
        self._synchronize()
        end_of_device.record(self._stream)
        self._synchronize()
        return Reading(start.elapsed_time(end_of_stream), start.elapsed_time(end_of_device), enqueue_ms), result

    def hold(self, hold_ms: float) -> None:
        """Flush the L2 cache and keep the device busy so long; the host goes on at once."""
        self._fill(1)
        self._spin(round(hold_ms * self._per_ms))

    def _events(self, count: int) -> list[Any]:
        return [self._event(enable_timing=True, blocking=False, interprocess=False) for _ in range(count)]

    def _cycles_per_ms(self) -> float:
        """Device cycles in a millisecond, with the clocks of a busy device: the second of two spins counts."""
        start, end = self._events(2)
        self._spin(_CALIBRATION_CYCLES)
        start.record(self._stream)
        self._spin(_CALIBRATION_CYCLES)
        end.record(self._stream)
        self._synchronize()
        return _CALIBRATION_CYCLES / float(start.elapsed_time(end))

    def synchronize(self) -> None:
        """Wait for all work on the device."""
        self._synchronize()


def _driver_function(name: str) -> Callable[[], Any]:
    """A function of the CUDA driver without arguments, or one that does nothing where the driver lacks it."""
    try:
        function = getattr(ctypes.CDLL("libcuda.so.1"), name)
    except (OSError, AttributeError):
        return lambda: None
    return lambda: function()
