"""Candidates that fail on the CPU for want of a device: only a run on a GPU tells about them."""

import re

from app.verification.facts import PhaseEnd

_NO_GPU_WORDS = (
    "Torch not compiled with CUDA enabled", "PyTorch was compiled without CUDA support",
    "No CUDA GPUs are available", "Found no NVIDIA driver", "Cannot access accelerator device",
    "Tried to instantiate dummy base class", "0 active drivers",
)  # fmt: skip
"""What torch and Triton say where a call needs a device that is not there."""

_REFUSES_CPU = re.compile(
    r"\A[^\n]*("
    r"\b(must|should|needs?|requires?|expect(s|ed)?|only|not)\b[^\n]*\b(cuda|gpu)\b"
    r"|\b(cuda|gpu)\b[^\n]*\b(required|needed|only|(not |un)available)\b"
    r"|\bcpu\b[^\n]*\b(not |un)(supported|implemented|available|allowed)\b"
    r"|\b(not (support|supported|implemented|available|allowed|run on|work)|cannot (run|be run|work)|no|unsupported)\b"
    r"[^\n]{0,40}\bcpu\b"
    r"|arguments from the 'CPU' backend[^\n]*\bonly available for these backends: \[[^\]\n]*\bCUDA\b"
    r")"
    r"|^\s*assert\b[^\n]*("
    r"\.is_cuda\b|\bnot [\w.]+\.is_cpu\b|\bdevice\b[^\n]*[\"']cuda|[\"']cuda[^\n]*\bdevice\b"
    r"|\bdevice\b[^\n]*!= [^\n]*[\"']cpu|[\"']cpu[\"'] != [^\n]*\bdevice\b"
    r")",
    re.IGNORECASE | re.MULTILINE,
)
"""Words against tensors of the CPU: the first line of what was raised, of the candidate or of torch for an operator
that is registered for CUDA only; or the candidate's assertion."""

_REFUSALS = ("AssertionError", "RuntimeError", "ValueError", "TypeError", "NotImplementedError")


def needs_gpu(end: PhaseEnd) -> bool:
    """Whether an exception that ended a phase says that a device was missing."""
    if end.kind != "error":
        return False
    is_missing = any(word in end.detail for word in _NO_GPU_WORDS)
    return is_missing or (end.error_type in _REFUSALS and _REFUSES_CPU.search(end.detail) is not None)
