"""Whose kernels run: counting launches in the interpreter, and knocking kernels out to see whether they matter.

Knocked out, a Triton launch does nothing, and a function of a compiled extension has its effects undone and its results
filled with 0xFF bytes. A result that is still right did not come from the kernel. As NaN also spoils what is multiplied
by zero, a second knock-out leaves ones where nothing was written.
"""

import contextlib
import functools
import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import torch

_ABSURD = 1e37
"""Beyond this a float was left by freed memory of the CPU, not written."""

EXTENSION_PREFIX = "extension:"
"""Stands before the names of counted extension functions; counted kernels of Triton have their bare names."""


class Launches:
    """Hooks on Triton and on compiled extensions. Install before the candidate is imported."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()
        self.has_opaque_extension = False
        """Whether an extension was loaded that has no functions: it registers operators, whose calls cannot be seen."""
        self._is_knocked_out = False
        self._leaves_ones = False
        self._filled: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._compiled_launch: tuple[type, Callable[..., Any], Callable[..., Any]] | None = None

    def install(self, interpreted: bool) -> None:
        """Put the hooks in place. Without triton only extensions are hooked.

        In the interpreter every launch is counted. On the GPU Triton's launch path is touched only within `counting`
        and `knocked_out`, so that timing sees it as it is.
        """
        self._hook_extensions()
        try:
            if interpreted:
                owner = importlib.import_module("triton.runtime.interpreter").GridExecutor
                owner.__call__ = self._hooked(owner.__call__)
            else:
                owner = importlib.import_module("triton.runtime.jit").JITFunction
                self._compiled_launch = (owner, owner.run, self._hooked(owner.run))
        except ModuleNotFoundError:
            return

    @contextlib.contextmanager
    def counting(self) -> Iterator[None]:
        """Within it launches have their effect and are counted anew."""
        self.counted.clear()
        self._swap_launch(hooked=True)
        try:
            yield
        finally:
            self._swap_launch(hooked=False)

    @contextlib.contextmanager
    def knocked_out(self, leaving_ones: bool) -> Iterator[None]:
        """Within it no kernel of the candidate has an effect; what it should have written holds NaN, or ones.

        Afterwards every tensor that was filled with ones holds what it held: masks of infinities are no garbage.
        """
        self._is_knocked_out, self._leaves_ones = True, leaving_ones
        try:
            with self.counting():
                yield
        finally:
            self._is_knocked_out = False
            with torch.no_grad():
                while self._filled:
                    tensor, old = self._filled.pop()
                    tensor.copy_(old)

    def _swap_launch(self, hooked: bool) -> None:
        if self._compiled_launch is not None:
            owner, plain, hook = self._compiled_launch
            setattr(owner, "run", hook if hooked else plain)  # noqa: B010

    def _hooked(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(plain)
        def launch(this: Any, *args: Any, **kwargs: Any) -> Any:
            if self._is_knocked_out and self._leaves_ones:
                self._fill_unwritten(tensors_in((args, kwargs)))
            result = None if self._is_knocked_out else plain(this, *args, **kwargs)
            self.counted[getattr(this.fn, "__name__", "kernel")] += 1
            return result

        return launch

    def _hook_extensions(self) -> None:
        extensions = importlib.import_module("torch.utils.cpp_extension")
        for name in ("load", "load_inline"):
            plain = getattr(extensions, name)
            setattr(extensions, name, self._wrapping_loader(plain))

    def _wrapping_loader(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(plain)
        def loader(*args: Any, **kwargs: Any) -> Any:
            module = plain(*args, **kwargs)
            functions = _functions_of(module) if isinstance(module, ModuleType) else {}
            for name, value in functions.items():
                setattr(module, name, self._wrapped_function(name, value))
            self.has_opaque_extension |= not functions
            return module

        return loader

    def _wrapped_function(self, name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def function(*args: Any, **kwargs: Any) -> Any:
            result = self._undone(plain, args, kwargs) if self._is_knocked_out else plain(*args, **kwargs)
            self.counted[EXTENSION_PREFIX + name] += 1
            return result

        return function

    def _undone(self, plain: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        touched = tensors_in((args, kwargs))
        before = [tensor.detach().clone() for tensor in touched]
        result = plain(*args, **kwargs)
        addresses = {tensor.data_ptr() for tensor in touched}
        for made in tensors_in(result):
            if made.data_ptr() not in addresses:
                poison(made)
        with torch.no_grad():
            for tensor, old in zip(touched, before, strict=True):
                tensor.copy_(old)
        if self._leaves_ones:
            self._fill_unwritten([*touched, *tensors_in(result)])
        return result

    def _fill_unwritten(self, tensors: list[torch.Tensor]) -> None:
        """Put ones where float tensors hold what poisoned memory holds, and keep what they held."""
        with torch.no_grad():
            for tensor in tensors:
                unwritten = _unwritten(tensor)
                if unwritten is not None and bool(unwritten.any()):
                    self._filled.append((tensor, tensor.detach().clone()))
                    tensor.masked_fill_(unwritten, 1.0)


def _functions_of(module: ModuleType) -> dict[str, Callable[..., Any]]:
    return {
        name: value
        for name, value in list(vars(module).items())
        if callable(value) and not name.startswith("__") and not isinstance(value, type)
    }


def tensors_in(value: Any) -> list[torch.Tensor]:
    """Every tensor in nested lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [tensor for part in parts for tensor in tensors_in(part)]


def _unwritten(tensor: torch.Tensor) -> torch.Tensor | None:
    """Where a float tensor may never have been written; None for other tensors."""
    if not tensor.is_floating_point():
        return None
    if tensor.device.type == "cuda":
        return tensor.isnan()
    return tensor.isnan() | (tensor.isfinite() & (tensor.abs() > _ABSURD))


def poison(tensor: torch.Tensor) -> None:
    """Fill a tensor's memory with 0xFF bytes, which is NaN in every float format."""
    with torch.no_grad():
        if tensor.is_contiguous():
            tensor.detach().reshape(-1).view(torch.uint8).fill_(255)
        elif tensor.is_floating_point():
            tensor.detach().fill_(float("nan"))
