"""Gaps of Triton's CPU interpreter, and of torch without CUDA, filled in the child so that honest kernels run; marked
in the record as shims."""

import importlib
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

from app.verification.interpreter_calls import shim_calls

Elementwise = Callable[..., Any]

_SAME_IN_NUMPY = (
    "abs", "cbrt", "ceil", "copysign", "cos", "cosh", "exp", "exp2", "expm1", "floor", "fmod", "hypot", "ldexp", "log",
    "log10", "log1p", "log2", "rint", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
_OTHERWISE_IN_NUMPY = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
    "atanh": "arctanh", "pow": "power", "nearbyint": "rint", "scalbn": "ldexp", "add_rn": "add", "sub_rn": "subtract",
    "mul_rn": "multiply", "div_rn": "divide", "sqrt_rn": "sqrt", "fast_cosf": "cos", "fast_dividef": "divide",
    "fast_expf": "exp", "fast_log10f": "log10", "fast_log2f": "log2", "fast_logf": "log", "fast_powf": "power",
    "fast_sinf": "sin", "fast_tanf": "tan", "fast_tanhf": "tanh",
}  # fmt: skip
_PREDICATES = {"finitef": "isfinite", "isfinited": "isfinite", "isinf": "isinf", "isnan": "isnan"}
_ONE_BY_ONE: dict[str, Callable[..., float]] = {
    "erf": math.erf, "erfc": math.erfc, "lgamma": math.lgamma, "tgamma": math.gamma, "remainder": math.remainder,
    "normcdf": lambda x: math.erfc(-x * math.sqrt(0.5)) / 2,
}  # fmt: skip
"""Functions that numpy lacks. Those of torch would count as the candidate's own operators in the trace."""

_ONE_OPERAND = ("__neg__", "__pos__", "__abs__", "__invert__")
_TWO_OPERANDS = ("add", "sub", "mul", "floordiv", "mod", "lshift", "rshift", "and", "or", "xor")


class LoopIndex(int):
    """A loop variable: on the GPU it is a tensor that can be cast, so kernels may write `i.to(tl.int64)`, and
    `(i * BLOCK).to(tl.int64)`.
    """

    def to(self, dtype: Any) -> "LoopIndex":
        """The same value; Python's integers need no wider type."""
        return self


def _still_an_index(plain: Callable[..., Any]) -> Callable[..., Any]:
    def operation(self: LoopIndex, *others: Any) -> Any:
        result = plain(self, *others)
        return LoopIndex(result) if type(result) is int else result

    return operation


for _name in (*_ONE_OPERAND, *(f"__{side}{name}__" for name in _TWO_OPERANDS for side in ("", "r"))):
    setattr(LoopIndex, _name, _still_an_index(getattr(int, _name)))


def loop_range(*bounds: Any) -> range | Iterator[LoopIndex]:
    """`range` for a candidate's module: the same numbers, within a kernel as LoopIndex.

    Code of the host gets Python's own, which can be reversed, measured and returned.
    """
    numbers = range(*bounds)
    language = sys.modules.get("triton.language")
    # The interpreter puts a function in the place of the class tl.range for as long as a kernel runs.
    is_in_kernel = language is not None and not isinstance(language.range, type)
    return map(LoopIndex, numbers) if is_in_kernel else numbers


def install_shims() -> list[str]:
    """Fill what is missing; the names of what was filled. Without triton only torch has gaps."""
    done = _shim_cuda()
    try:
        language = importlib.import_module("triton.language")
        interpreter = importlib.import_module("triton.runtime.interpreter")
    except ModuleNotFoundError:
        return done
    done += [*_shim_libdevice(language, interpreter), *_shim_autotuner(), *_shim_range(interpreter), "range"]
    return done + shim_calls(language, interpreter)


class NoDevice:
    """`torch.cuda.device` where there is none to select."""

    def __init__(self, device: Any = None) -> None:
        self.idx = -1

    def __enter__(self) -> None:
        return None

    def __exit__(self, *fault: object) -> None:
        return None


def _shim_cuda() -> list[str]:
    """Calls that select a device or wait for it have nothing to do on the CPU."""
    # torch's compiler wants one function for each name.
    shims = {
        "device": NoDevice,
        "set_device": lambda device: None,
        "synchronize": lambda device=None: None,
        "current_device": lambda: 0,
    }
    for name, value in shims.items():
        setattr(torch.cuda, name, value)
    return [f"torch.cuda.{name}" for name in shims]


def _shim_libdevice(language: Any, interpreter: Any) -> list[str]:
    """libdevice functions have no CPU form: compute them elementwise in numpy on the interpreter's handles."""
    numpy = importlib.import_module("numpy")
    functions = {name: getattr(numpy, name) for name in _SAME_IN_NUMPY}
    functions |= {name: getattr(numpy, other) for name, other in _OTHERWISE_IN_NUMPY.items()}
    functions |= {name: numpy.vectorize(_safe(one), otypes=[numpy.float64]) for name, one in _ONE_BY_ONE.items()}
    functions |= _formulas(numpy)
    predicates = {name: getattr(numpy, other) for name, other in _PREDICATES.items()}
    done = []
    for module_name in ("triton.language.extra.libdevice", "triton.language.extra.cuda.libdevice"):
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError:
            continue
        for name, function in (functions | predicates).items():
            if hasattr(module, name):
                setattr(module, name, _elementwise(function, name in predicates, numpy, language, interpreter))
        done.append(module_name)
    return done


def _formulas(numpy: Any) -> dict[str, Elementwise]:
    return {
        "exp10": lambda x: numpy.power(10.0, x),
        "fast_exp10f": lambda x: numpy.power(10.0, x),
        "fdim": lambda x, y: numpy.where(x <= y, 0.0, x - y),
        "fma": lambda x, y, z: x * y + z,
        "fma_rn": lambda x, y, z: x * y + z,
        "rcbrt": lambda x: 1 / numpy.cbrt(x),
        "rcp_rn": lambda x: 1 / x,
        "rhypot": lambda x, y: 1 / numpy.hypot(x, y),
        "round": lambda x: numpy.copysign(numpy.floor(numpy.abs(x)) + (numpy.abs(x) % 1 >= 0.5), x),
        "rsqrt": lambda x: 1 / numpy.sqrt(x),
        "rsqrt_rn": lambda x: 1 / numpy.sqrt(x),
        "saturatef": lambda x: numpy.where(numpy.isnan(x), 0.0, numpy.clip(x, 0.0, 1.0)),
    }


def _safe(function: Callable[..., float]) -> Callable[..., float]:
    def safe(*values: float) -> float:
        try:
            return function(*values)
        except OverflowError:
            return math.copysign(math.inf, values[0])
        except (ValueError, ZeroDivisionError):
            return math.nan

    return safe


def _elementwise(function: Elementwise, is_predicate: bool, numpy: Any, language: Any, interpreter: Any) -> Elementwise:
    """`function` of arrays as one of tensors and numbers: floats are computed in float64, the widest type stays."""

    def shim(*values: Any, **_: Any) -> Any:
        tensors = [interpreter.interpreter_semantic.to_tensor(value) for value in values]
        widest = max(tensors, key=lambda one: (one.dtype.is_floating(), one.dtype.primitive_bitwidth))
        numbers = [
            one.handle.data.astype(numpy.float64) if one.dtype.is_floating() else one.handle.data for one in tensors
        ]
        with numpy.errstate(all="ignore"):
            result = function(*numbers).astype(bool if is_predicate else widest.handle.data.dtype)
        kind = language.int1 if is_predicate else widest.dtype
        is_block = any(one.type.is_block() for one in tensors)
        shaped = language.block_type(kind, list(result.shape)) if is_block else kind
        return language.core.tensor(interpreter.TensorHandle(result, kind), shaped)

    return shim


def _shim_range(interpreter: Any) -> list[str]:
    """Loops over `tl.range` within kernels: the interpreter's are plain integers."""
    plain = interpreter._patch_lang_core

    def patch(language: Any, scope: Any) -> None:
        plain(language, scope)
        numbers = language.range
        scope.set_attr(language, "range", lambda *bounds, **options: map(LoopIndex, numbers(*bounds, **options)))

    interpreter._patch_lang_core = patch
    return ["triton.language.range"]


def _shim_autotuner() -> list[str]:
    """Without a device there is nothing to tune for: every configuration takes equally long, so the first is chosen."""
    name = "triton.runtime.autotuner"
    try:
        autotuner = importlib.import_module(name).Autotuner
    except (ModuleNotFoundError, AttributeError):
        return []
    autotuner.do_bench = lambda self, kernel_call, quantiles: [1.0] * len(quantiles)
    return [name]
