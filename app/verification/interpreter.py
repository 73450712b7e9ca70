"""Gaps of Triton's CPU interpreter, filled in the child so that honest kernels run; marked in the record as shims."""

import importlib
import math
from collections.abc import Callable, Iterator
from typing import Any

_UNARY: dict[str, Callable[[float], float]] = {
    "tanh": math.tanh, "erf": math.erf, "exp": math.exp, "log": math.log, "log1p": math.log1p, "expm1": math.expm1,
    "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "sinh": math.sinh, "cosh": math.cosh, "abs": abs,
    "floor": math.floor, "ceil": math.ceil, "exp2": lambda x: 2.0**x, "rsqrt": lambda x: x**-0.5,
}  # fmt: skip


class LoopIndex(int):
    """A loop variable: on the GPU it is a tensor that can be cast, so kernels may write `i.to(tl.int64)`."""

    def to(self, dtype: Any) -> "LoopIndex":
        """The same value; Python's integers need no wider type."""
        return self


def loop_range(*bounds: Any) -> Iterator[LoopIndex]:
    """`range` for a candidate's module: the same numbers, as LoopIndex."""
    return map(LoopIndex, range(*bounds))


def install_shims() -> list[str]:
    """Fill libdevice; the names of the modules that were filled. Without triton there is nothing to fill."""
    try:
        language = importlib.import_module("triton.language")
    except ModuleNotFoundError:
        return []
    return [*_shim_libdevice(language), *_shim_autotuner(), "range"]


def _shim_libdevice(language: Any) -> list[str]:
    """libdevice functions have no CPU form: compute them elementwise in numpy on the interpreter's handles."""
    numpy = importlib.import_module("numpy")
    done = []
    modules = ["triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice"]
    for module_name in modules:
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError:
            continue
        for name, function in _UNARY.items():
            setattr(module, name, _elementwise(numpy, language, function))
        done.append(module_name)
    return done


def _shim_autotuner() -> list[str]:
    """Without a device there is nothing to tune for: every configuration takes equally long, so the first is chosen."""
    name = "triton.runtime.autotuner"
    try:
        autotuner = importlib.import_module(name).Autotuner
    except (ModuleNotFoundError, AttributeError):
        return []
    autotuner.do_bench = lambda self, kernel_call, quantiles: [1.0] * len(quantiles)
    return [name]


def _elementwise(numpy: Any, language: Any, function: Callable[[float], float]) -> Callable[..., Any]:
    def safe(value: float) -> float:
        try:
            return function(value)
        except OverflowError:
            return math.copysign(math.inf, value)
        except (ValueError, ZeroDivisionError):
            return math.nan

    vector = numpy.vectorize(safe, otypes=[numpy.float64])

    def shim(value: Any, **_: Any) -> Any:
        interpreter = importlib.import_module("triton.runtime.interpreter")
        data = value.handle.data
        result = vector(data).astype(data.dtype) if data.size else data
        return language.core.tensor(interpreter.TensorHandle(result, value.handle.dtype), value.type)

    return shim
