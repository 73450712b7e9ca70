"""The machine that runs are made on, as torch sees it."""

import importlib.metadata
from typing import Any

import torch


def describe_machine(device: torch.device) -> dict[str, Any]:
    """Versions and switches of torch, and the GPU's name; triton's version where it is installed."""
    found: dict[str, Any] = {"torch": torch.__version__, "cuda": torch.version.cuda, "triton": _triton_version()}
    found["switches"] = {
        "matmul.allow_tf32": torch.backends.cuda.matmul.allow_tf32,
        "cudnn.allow_tf32": torch.backends.cudnn.allow_tf32,
    }
    if device.type == "cuda":
        properties = torch.cuda.get_device_properties(device)
        found |= {"gpu": properties.name, "capability": [properties.major, properties.minor]}
        clock, width = getattr(properties, "memory_clock_rate", 0), getattr(properties, "memory_bus_width", 0)
        found |= {"l2_bytes": properties.L2_cache_size, "peak_bytes_per_ms": 2 * clock * width / 8}
    return found


def _triton_version() -> str | None:
    try:
        return importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        return None
