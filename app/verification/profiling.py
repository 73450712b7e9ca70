"""Which kernels ran on the device and for how long, read from the profiler's raw events beside a marker kernel."""

from collections.abc import Callable
from typing import Any

import torch

from app.verification.stopwatch import Stopwatch

MARKER_KERNEL = "spin_kernel"
_NAME_LENGTH = 300
_MAX_NAMES = 60


class Profiler:
    """Made before a candidate is imported, so that it holds torch's own functions."""

    def __init__(self, stopwatch: Stopwatch) -> None:
        self._stopwatch = stopwatch
        self._profile = torch.autograd.profiler.profile

    def profile(self, call: Callable[[], Any], hold_ms: float) -> dict[str, Any]:
        """Run `call` as it is timed, behind the flush and the hold, whose kernel is the marker; device events by name
        in microseconds, and whether the marker was seen.

        Copies and fills count as device time too, under their own names; what the marker's stream did before it is
        the flush.
        """
        self._stopwatch.synchronize()
        with self._profile(use_device="cuda", use_cpu=False, use_kineto=True) as profiler:
            self._stopwatch.hold(hold_ms)
            call()
            self._stopwatch.synchronize()
        events = [event for event in profiler.kineto_results.events() if event.device_type().name == "CUDA"]
        seen = [event for event in events if MARKER_KERNEL in event.name()]
        marker = min(seen, key=lambda event: int(event.start_ns()), default=None)
        kernels: dict[str, float] = {}
        for event in events:
            if marker is None or not _is_before(event, marker):
                name = event.name()[:_NAME_LENGTH]
                kernels[name] = kernels.get(name, 0.0) + event.duration_ns() / 1000
        streams = {event.device_resource_id() for event in events}
        longest = dict(sorted(kernels.items(), key=lambda item: -item[1])[:_MAX_NAMES])
        return {
            "marker": marker is not None,
            "kernels": longest,
            "total_us": float(sum(kernels.values())),
            "streams": len(streams),
        }


def _is_before(event: Any, marker: Any) -> bool:
    """Whether an event is the marker itself, or the flush on its stream."""
    on_its_stream = event.device_resource_id() == marker.device_resource_id()
    return bool(on_its_stream and event.start_ns() <= marker.start_ns())
