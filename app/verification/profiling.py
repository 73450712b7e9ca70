"""Which kernels ran on the device and for how long, read from the profiler's raw events beside a marker kernel."""

from collections.abc import Callable
from typing import Any

import torch

MARKER_KERNEL = "spin_kernel"
_MARKER_CYCLES = 20_000
_NAME_LENGTH = 300
_MAX_NAMES = 60


class Profiler:
    """Made before a candidate is imported, so that it holds torch's own functions."""

    def __init__(self) -> None:
        self._profile = torch.autograd.profiler.profile
        self._spin: Callable[[int], None] = torch.cuda._sleep
        self._synchronize: Callable[[], None] = torch._C._cuda_synchronize

    def profile(self, call: Callable[[], Any]) -> dict[str, Any]:
        """Run the marker and then `call`; device events by name in microseconds, and whether the marker was seen.

        Copies and fills count as device time too, under their own names.
        """
        self._synchronize()
        with self._profile(use_device="cuda", use_cpu=False, use_kineto=True) as profiler:
            self._spin(_MARKER_CYCLES)
            call()
            self._synchronize()
        times: dict[str, float] = {}
        streams = set()
        for event in profiler.kineto_results.events():
            if event.device_type().name == "CUDA":
                name = event.name()[:_NAME_LENGTH]
                times[name] = times.get(name, 0.0) + event.duration_ns() / 1000
                streams.add(event.device_resource_id())
        marker = any(MARKER_KERNEL in name for name in times)
        kernels = {name: time for name, time in times.items() if MARKER_KERNEL not in name}
        longest = dict(sorted(kernels.items(), key=lambda item: -item[1])[:_MAX_NAMES])
        return {"marker": marker, "kernels": longest, "total_us": float(sum(kernels.values())), "streams": len(streams)}
