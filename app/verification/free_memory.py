"""Free device memory of this process, filled with 0xFF so that nothing left in it can look like a result."""

import ctypes
from collections.abc import Callable
from typing import Any

import torch

_BYTE = 0xFF
_FREE = "inactive"


class FreeMemory:
    """Knows the caching allocator's free blocks. Made before a candidate is imported, so that it holds torch's own."""

    def __init__(self) -> None:
        self._snapshot: Callable[[], list[dict[str, Any]]] = torch.cuda.memory_snapshot
        self._synchronize: Callable[[], None] = torch._C._cuda_synchronize
        self._fill = _driver_fill()

    def poison(self) -> int:
        """Fill every block that nobody holds; how many bytes that were. 0 where the driver cannot be reached."""
        if self._fill is None:
            return 0
        self._synchronize()
        filled = 0
        for segment in self._snapshot():
            address = int(segment["address"])
            for block in segment["blocks"]:
                size = int(block["size"])
                if block["state"] == _FREE and self._fill(address, _BYTE, size) == 0:
                    filled += size
                address += size
        self._synchronize()
        return filled


def _driver_fill() -> Callable[[int, int, int], int] | None:
    """`cuMemsetD8` of the driver: address, byte, count; 0 for success."""
    try:
        function = ctypes.CDLL("libcuda.so.1").cuMemsetD8_v2
    except (OSError, AttributeError):
        return None
    function.argtypes = (ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t)
    function.restype = ctypes.c_int
    return lambda address, byte, count: int(function(address, byte, count))
