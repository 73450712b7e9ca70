"""torch.compile of the reference, to compare with."""

from collections.abc import Callable
from typing import Any

import torch


def try_to_compile(model: torch.nn.Module, arguments: Any) -> tuple[Callable[..., Any] | None, str]:
    """The compiled model after one call, or None and the reason: a failure is an answer, not a fault."""
    torch._dynamo.reset()
    compiled = torch.compile(model)
    try:
        with torch.no_grad():
            compiled(*arguments)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
    except (RuntimeError, torch._dynamo.exc.TorchDynamoException, AssertionError, TypeError) as fault:
        return None, f"{type(fault).__name__}: {str(fault)[:300]}"
    return compiled, ""
