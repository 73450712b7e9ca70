"""What a candidate changed in its own process and should not have: functions, switches, environment, threads.

The verdict does not rest on it (values and clocks are checked from outside); it tells an attempt from a mistake.
"""

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

import torch

_WATCHED_MODULES = (
    "torch", "torch.cuda", "torch.nn.functional", "torch.testing", "torch.profiler", "torch.autograd.profiler",
    "torch.utils.cpp_extension", "time", "json", "socket", "os", "builtins", "gc", "math", "threading",
)  # fmt: skip
_WATCHED_PREFIX = "app.verification"
_WATCHED_ENVIRONMENT = ("CUDA_", "TORCH", "PYTORCH_", "TRITON_", "NVIDIA_", "LD_", "PYTHON", "CUBLAS_", "OMP_", "MKL_")
_HARMLESS_ENVIRONMENT = ("TORCH_CUDA_ARCH_LIST", "CUDA_HOME", "CUDA_PATH", "TORCH_CPP_LOG_LEVEL", "TORCHINDUCTOR_")


class Audit:
    """A picture of the process before the candidate was imported. `guarded` are objects whose functions must stay."""

    def __init__(self, guarded: list[object]) -> None:
        self._guarded = [(value, dict(vars(value))) for value in guarded]
        self._functions = {place: dict(_callables(space)) for place, space in _namespaces()}
        self._codes = {id(f): getattr(f, "__code__", None) for d in self._functions.values() for f in d.values()}
        self._switches = _switches()
        self._environment = _environment()
        self._threads = _thread_count()

    def changes(self) -> dict[str, Any]:
        """Names of replaced functions, switches, environment variables; threads that are still there."""
        switches, environment = _switches(), _environment()
        return {
            "patched": self._patched(),
            "switches": sorted(name for name, value in self._switches.items() if switches.get(name) != value),
            "environment": sorted(
                name for name in {*environment, *self._environment}
                if environment.get(name) != self._environment.get(name)
            ),
            "threads": max(0, _thread_count() - self._threads),
        }  # fmt: skip

    def _patched(self) -> list[str]:
        found = []
        now = dict(_namespaces())
        for place, functions in self._functions.items():
            space = now.get(place, {})
            for name, function in functions.items():
                same_code = getattr(function, "__code__", None) is self._codes[id(function)]
                if space.get(name) is not function or not same_code:
                    found.append(f"{place}.{name}")
        for value, attributes in self._guarded:
            present = vars(value)
            replaced = [n for n, before in attributes.items() if callable(before) and present.get(n) is not before]
            shadowed = [n for n in present if n not in attributes and hasattr(type(value), n)]
            found += [f"{type(value).__name__}.{name}" for name in (*replaced, *shadowed)]
        if sys.gettrace() is not None or sys.getprofile() is not None:
            found.append("sys.settrace")
        return sorted(found)[:20]


def _namespaces() -> list[tuple[str, dict[str, Any]]]:
    spaces = [(name, vars(importlib.import_module(name))) for name in _WATCHED_MODULES]
    spaces += [(name, vars(module)) for name, module in list(sys.modules.items()) if _is_harness(name)]
    classes: list[type] = [torch.Tensor, torch.nn.Module, torch.cuda.Event, torch.cuda.Stream, torch.cuda.CUDAGraph]
    for name, module in list(sys.modules.items()):
        if _is_harness(name):
            classes += [
                value for value in vars(module).values() if isinstance(value, type) and value.__module__ == name
            ]
    return spaces + [(f"{kind.__module__}.{kind.__qualname__}", dict(vars(kind))) for kind in classes]


def _callables(space: dict[str, Any]) -> list[tuple[str, Callable[..., Any]]]:
    return [(name, value) for name, value in space.items() if callable(value)]


def _switches() -> dict[str, Any]:
    """Global switches of torch that change numbers or speed."""
    return {
        "matmul.allow_tf32": torch.backends.cuda.matmul.allow_tf32,
        "cudnn.allow_tf32": torch.backends.cudnn.allow_tf32,
        "cudnn.benchmark": torch.backends.cudnn.benchmark,
        "cudnn.deterministic": torch.backends.cudnn.deterministic,
        "cudnn.enabled": torch.backends.cudnn.enabled,
        "float32_matmul_precision": torch.get_float32_matmul_precision(),
        "fp16_reduction": torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction,
        "bf16_reduction": torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction,
        "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
        "default_dtype": str(torch.get_default_dtype()),
        "num_threads": torch.get_num_threads(),
        "grad_enabled": torch.is_grad_enabled(),
    }


def _environment() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_WATCHED_ENVIRONMENT) and not name.startswith(_HARMLESS_ENVIRONMENT)
    }


def _thread_count() -> int:
    return len(sys._current_frames())


def _is_harness(module_name: str) -> bool:
    """Modules of the program that runs the candidate, which was started as `__main__`."""
    return module_name.startswith(_WATCHED_PREFIX) or module_name == "__main__"
