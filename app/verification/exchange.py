"""How tensors travel between processes: a tree of plain values, and raw bytes in a shared buffer.

No pickle anywhere: what comes back from a candidate is shapes, dtypes and bytes, never objects.
"""

import ctypes
import mmap
from typing import Any

import torch

from app.verification.protocol import CHUNK_BYTES

ALIGNMENT = 16
MAX_TENSORS = 4096
MAX_DEPTH = 32
DTYPES: dict[str, torch.dtype] = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
        torch.uint8, torch.bool, torch.complex64, torch.complex128,
    )
}  # fmt: skip


_DETACH = torch.Tensor.detach
_PLAIN = (bool, int, float, str)


class UnsupportedValue(Exception):
    """A value that is neither a plain value, a container of such, nor a dense tensor."""


def to_tree(value: Any, tensors: list[torch.Tensor], depth: int = 0) -> Any:
    """`value` as JSON; its tensors are appended to `tensors` and stand as {"t": index}. Raises UnsupportedValue.

    Only exact tensors without attributes of their own are taken, and containers that are read as lists, tuples and
    dicts are: anything else may compute when it is read. What a value is, its type tells: `isinstance` asks the value.
    """
    if depth > MAX_DEPTH or len(tensors) > MAX_TENSORS:
        raise UnsupportedValue("too many or too deeply nested values")
    if type(value) in (torch.Tensor, torch.nn.Parameter):
        if value.layout is not torch.strided or value.dtype not in DTYPES.values():
            raise UnsupportedValue(f"a tensor of layout {value.layout} and dtype {value.dtype}")
        if vars(value):
            raise UnsupportedValue("a tensor with attributes of its own")
        tensors.append(_DETACH(value))
        return {"t": len(tensors) - 1}
    if value is None or type(value) in _PLAIN:
        return {"v": value} if type(value) is not float else {"f": value.hex()}
    kind = type(value)
    if kind is torch.dtype:
        return {"dtype": str(value).removeprefix("torch.")}
    if issubclass(kind, torch.Tensor):
        raise UnsupportedValue(f"a tensor subclass {kind.__name__}")
    if issubclass(kind, list):
        return {"l": [to_tree(one, tensors, depth + 1) for one in list.__iter__(value)]}
    if issubclass(kind, tuple):
        return {"u": [to_tree(one, tensors, depth + 1) for one in tuple.__iter__(value)]}
    if issubclass(kind, dict) and all(type(key) is str for key in dict.__iter__(value)):
        return {"d": {key: to_tree(one, tensors, depth + 1) for key, one in dict.items(value)}}
    raise UnsupportedValue(f"a value of type {kind.__name__}")


def from_tree(tree: Any, tensors: list[torch.Tensor]) -> Any:
    """The inverse of `to_tree`, with `tensors` in the places."""
    (word, content), *_ = tree.items()
    match word:
        case "t":
            return tensors[content]
        case "f":
            return float.fromhex(content)
        case "dtype":
            return DTYPES[content]
        case "l":
            return [from_tree(one, tensors) for one in content]
        case "u":
            return tuple(from_tree(one, tensors) for one in content)
        case "d":
            return {key: from_tree(one, tensors) for key, one in content.items()}
        case _:
            return content


def specs_of(tensors: list[torch.Tensor]) -> list[dict[str, Any]]:
    """Shape, dtype and stride of each tensor, as JSON."""
    return [
        {"shape": list(t.shape), "dtype": str(t.dtype).removeprefix("torch."), "stride": list(t.stride())}
        for t in tensors
    ]


def allocate(specs: list[dict[str, Any]], device: torch.device, limit: int) -> list[torch.Tensor]:
    """Empty contiguous tensors for `specs`. Raises UnsupportedValue beyond `limit` bytes and for nonsense."""
    total = 0
    made = []
    for spec in specs[:MAX_TENSORS]:
        shape, dtype = [int(size) for size in spec["shape"]], DTYPES.get(spec["dtype"])
        if dtype is None or any(size < 0 for size in shape):
            raise UnsupportedValue(f"a tensor of shape {shape} and dtype {spec['dtype']}")
        count = 1
        for size in shape:
            count *= size
        total += count * dtype.itemsize
        if total > limit:
            raise UnsupportedValue(f"more than {limit} bytes of tensors")
        made.append(torch.empty(shape, dtype=dtype, device=device))
    return made


class Chunk:
    """The shared buffer, page-locked where CUDA is in use so that copies run at the bus's rate."""

    def __init__(self, fd: int, pin: bool) -> None:
        self._map = mmap.mmap(fd, CHUNK_BYTES)
        self.bytes = torch.frombuffer(self._map, dtype=torch.uint8)
        self.is_pinned = pin and _page_lock(self.bytes.data_ptr(), CHUNK_BYTES)


class ByteStream:
    """A list of contiguous tensors seen as one string of bytes, each tensor padded to ALIGNMENT."""

    def __init__(self, tensors: list[torch.Tensor]) -> None:
        self._flat = [_as_bytes(tensor) for tensor in tensors]
        self._starts: list[int] = []
        self.size = 0
        for flat in self._flat:
            self._starts.append(self.size)
            self.size += -(-flat.numel() // ALIGNMENT) * ALIGNMENT

    def write_chunk(self, chunk: Chunk, offset: int) -> int:
        """Copy bytes from `offset` on into the buffer; the number of bytes that it now holds."""
        end = min(self.size, offset + CHUNK_BYTES)
        for flat, lo, hi, at in self._pieces(offset, end):
            chunk.bytes[at : at + hi - lo].copy_(flat[lo:hi])
        return end - offset

    def read_chunk(self, chunk: Chunk, offset: int) -> int:
        """Copy the buffer's bytes to `offset` on; the number of bytes taken."""
        end = min(self.size, offset + CHUNK_BYTES)
        for flat, lo, hi, at in self._pieces(offset, end):
            flat[lo:hi].copy_(chunk.bytes[at : at + hi - lo])
        return end - offset

    def _pieces(self, offset: int, end: int) -> list[tuple[torch.Tensor, int, int, int]]:
        found = []
        for flat, start in zip(self._flat, self._starts, strict=True):
            lo, hi = max(offset, start), min(end, start + flat.numel())
            if lo < hi:
                found.append((flat, lo - start, hi - start, lo - offset))
        return found


def _as_bytes(tensor: torch.Tensor) -> torch.Tensor:
    """A flat view of the tensor's memory as bytes."""
    if not tensor.is_contiguous():
        raise UnsupportedValue("a tensor that is not contiguous")
    return tensor.reshape(-1).view(torch.uint8)


def _page_lock(address: int, size: int) -> bool:
    """Register the buffer with CUDA. False when CUDA refuses: copies are then slower, nothing else."""
    cudart: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
    return bool(int(cudart.cudaHostRegister(ctypes.c_void_p(address).value, size, 0)) == 0)
