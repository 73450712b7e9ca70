"""What runs on one device share: limits, the pool of references, the gate to the GPU, and whether to go on."""

import threading
from dataclasses import dataclass, field

from app.errors import InvalidInput
from app.verification.gate import GpuGate
from app.verification.protocol import CPU_LIMITS, GPU_LIMITS, Limits
from app.verification.reference import ReferencePool

CPU = "cpu"


@dataclass
class Session:
    """One device. `gpu` is its index, or None on the CPU."""

    gpu: int | None
    limits: Limits
    pool: ReferencePool
    gate: GpuGate = field(default_factory=GpuGate)
    cancelled: threading.Event = field(default_factory=threading.Event)
    is_alone: bool = True
    """Whether no other run uses the GPU, so that its free memory can be compared before and after."""

    @classmethod
    def open(cls, device: str, limits: Limits | None = None) -> "Session":
        """A session for `cpu` or `cuda:N`. Raises InvalidInput for another word."""
        gpu = gpu_index(device)
        chosen = limits or (CPU_LIMITS if gpu is None else GPU_LIMITS)
        return cls(gpu, chosen, ReferencePool(gpu, chosen))

    @property
    def device_label(self) -> str:
        """How records name the device."""
        return "cpu-interpreter" if self.gpu is None else f"cuda:{self.gpu}"


def gpu_index(device: str) -> int | None:
    """`cpu` gives None, `cuda:2` gives 2. Raises InvalidInput."""
    if device == CPU:
        return None
    word, _, number = device.partition(":")
    if word != "cuda" or not (number or "0").isdigit():
        raise InvalidInput(f"no such device: {device}")
    return int(number or "0")
