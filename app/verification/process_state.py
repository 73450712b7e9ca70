"""What a candidate can set in its process besides Python names: switches, environment, modes, signals, operators."""

import ctypes
import os
import signal
import sys
from typing import Any

import torch

from app.verification.stillness import TIMERS

_WATCHED_ENVIRONMENT = ("CUDA_", "TORCH", "PYTORCH_", "TRITON_", "NVIDIA_", "LD_", "PYTHON", "CUBLAS_", "OMP_", "MKL_")
_HARMLESS_ENVIRONMENT = (
    "TORCH_CUDA_ARCH_LIST", "CUDA_HOME", "CUDA_PATH", "TORCH_CPP_LOG_LEVEL", "TORCHINDUCTOR_",
    "TRITON_PRINT_AUTOTUNING", "TRITON_CACHE_DIR", "TRITON_PTXAS_PATH", "TORCH_EXTENSIONS_DIR", "TORCH_LOGS",
    "TORCH_SHOW_CPP_STACKTRACES", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "CUDA_DEVICE_ORDER",
    "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONWARNINGS",
)  # fmt: skip
"""Folders, compilers, allocator, threads and messages. Honest modules set them, and they act on the candidate's own
process only: there nothing of the evaluator reads them once the candidate is imported."""

_MEANS_UNSET = {"CUDA_LAUNCH_BLOCKING": "0"}
_BEHIND_PYTHON = ("CUDA_LAUNCH_BLOCKING", "CUDA_VISIBLE_DEVICES", "NVIDIA_TF32_OVERRIDE", "CUBLAS_WORKSPACE_CONFIG")
"""Variables that libraries read straight from the process, where os.environ need not show them."""

_OPERATORS = (
    "clone", "contiguous", "copy_", "detach", "empty.memory_format", "equal", "fill_.Scalar", "isnan", "mul_.Tensor",
    "reshape", "slice.Tensor", "uniform_", "view", "view.dtype",
)  # fmt: skip
"""Operators of torch that the evaluator itself calls in the candidate's process."""


def switches() -> dict[str, Any]:
    """Global switches of torch that change numbers or speed.

    Not among them: whether gradients are on, as every call is made without and the evaluator's own work needs none.
    """
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
        "inference_mode": torch.is_inference_mode_enabled(),
        "autocast": (torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled("cuda")),
    }


def environment() -> dict[str, str]:
    """Variables that CUDA, torch, Triton, Python and the loader read, as Python and as the C library see them."""
    found = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_WATCHED_ENVIRONMENT) and not name.startswith(_HARMLESS_ENVIRONMENT)
    }
    read = ctypes.CDLL(None).getenv
    read.restype = ctypes.c_char_p
    for name in _BEHIND_PYTHON:
        value = read(name.encode())
        if value is not None:
            found[f"{name} (C)"] = value.decode("utf-8", "replace")
    return {name: value for name, value in found.items() if _MEANS_UNSET.get(name.removesuffix(" (C)")) != value}


def hidden_hooks() -> dict[str, Any]:
    """Places from which code runs that nobody calls: torch's modes, operators and module hooks, signals and timers."""
    module = sys.modules["torch.nn.modules.module"]
    found: dict[str, Any] = {
        "function modes": torch._C._len_torch_function_stack(),
        "dispatch modes": torch._C._len_torch_dispatch_stack(),
        "timers": any(signal.getitimer(timer)[1] > 0 for timer in TIMERS),
        "trace function": sys.gettrace() is not None or sys.getprofile() is not None,
    }
    found |= {f"signal {number}": signal.getsignal(number) for number in signal.valid_signals()}
    found |= {f"operator {name}": torch._C._dispatch_dump(f"aten::{name}") for name in _OPERATORS}
    hooks = {name: value for name, value in vars(module).items() if name.startswith("_global_")}
    return found | {f"module hooks {name}": len(value) for name, value in hooks.items() if hasattr(value, "__len__")}
