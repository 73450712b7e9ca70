"""Comparing a candidate's output with the reference's: layout first, then masks of non-finite values, then values."""

from dataclasses import asdict, dataclass
from typing import Any

import torch

from app.verification.protocol import DEGENERATE_SHARE, TOLERANCE_FULL, TOLERANCE_HALF, YARDSTICK_FACTOR

_BLOCK = 1 << 26
"""Elements compared at once: bounds the extra memory to a few hundred MB."""


_SAMPLE = 1 << 24
"""Elements looked at when asking whether an output is constant."""


@dataclass(frozen=True)
class Comparison:
    """How two outputs differ. `mismatch` is empty when they do not; `worst` is the largest error in tolerances."""

    mismatch: str = ""
    detail: str = ""
    worst: float = 0.0
    max_abs_error: float = 0.0
    oracle_used: bool = False

    def to_json(self) -> dict[str, Any]:
        """The fields, for the wire."""
        return asdict(self)


def layout_mismatch(expected: dict[str, Any], given: dict[str, Any]) -> Comparison:
    """Compare descriptions {tree, specs}: structure and plain values, shapes, dtypes, strides, in that order."""
    if expected["tree"] != given["tree"] or len(expected["specs"]) != len(given["specs"]):
        return Comparison("structure", "another structure of outputs, or another plain value in it")
    for index, (want, have) in enumerate(zip(expected["specs"], given["specs"], strict=True)):
        if want["shape"] != have["shape"]:
            return Comparison("shape", f"output {index}: shape {have['shape']} instead of {want['shape']}")
        if want["dtype"] != have["dtype"]:
            return Comparison("dtype", f"output {index}: {have['dtype']} instead of {want['dtype']}")
        if not _stride_fits(have["shape"], have["stride"], want["stride"]):
            return Comparison("structure", f"output {index}: stride {have['stride']} instead of {want['stride']}")
    return Comparison()


def tolerance_of(dtype: torch.dtype) -> float:
    """atol = rtol by dtype; 0 for integers and booleans, which must be equal."""
    if dtype in (torch.float16, torch.bfloat16):
        return TOLERANCE_HALF
    return TOLERANCE_FULL if dtype.is_floating_point or dtype.is_complex else 0.0


def compare_values(expected: list[torch.Tensor], given: list[torch.Tensor]) -> Comparison:
    """Non-finite masks, then values, against |error| <= tol + tol * |expected|."""
    worst = largest = 0.0
    for index, (want, have) in enumerate(zip(expected, given, strict=True)):
        for wanted, had in _blocks(want, have):
            if not _same_nonfinite(wanted, had):
                return Comparison("nonfinite", f"output {index}: NaN or infinity in other places")
            error, ratio = _errors(wanted, had, tolerance_of(want.dtype))
            largest, worst = max(largest, error), max(worst, ratio)
    if worst > 1.0:
        return Comparison("value", f"error of {worst:.3g} tolerances", worst, largest)
    return Comparison("", "", worst, largest)


def compare_by_oracle(oracle: list[torch.Tensor], eager: list[torch.Tensor], given: list[torch.Tensor]) -> Comparison:
    """Accept a candidate that errs against the oracle (fp64) no more than eager does, times YARDSTICK_FACTOR.

    The largest and the root mean square error must both hold, each in units of the tolerance.
    """
    worst = largest = 0.0
    for index, (truth, base, have) in enumerate(zip(oracle, eager, given, strict=True)):
        tolerance = tolerance_of(base.dtype)
        if tolerance == 0.0:
            if torch.equal(base, have):
                continue
            return Comparison("value", f"output {index}: whole numbers differ", oracle_used=True)
        eager_max, eager_rms = _spread(truth, base, tolerance)
        given_max, given_rms = _spread(truth, have, tolerance)
        allowed_max, allowed_rms = max(1.0, YARDSTICK_FACTOR * eager_max), max(0.3, YARDSTICK_FACTOR * eager_rms)
        largest = max(largest, _errors(base, have, tolerance)[0])
        worst = max(worst, given_max)
        if not (given_max <= allowed_max and given_rms <= allowed_rms):
            detail = f"output {index}: {given_max:.3g} tolerances from fp64, eager {eager_max:.3g}"
            return Comparison("value", detail, given_max, largest, oracle_used=True)
    return Comparison("", "", worst, largest, oracle_used=True)


def finite_alike(before: list[torch.Tensor], after: list[torch.Tensor]) -> bool:
    """Whether two outputs have NaN and infinities at the same places."""
    floats = [pair for pair in zip(before, after, strict=True) if pair[0].is_floating_point()]
    return all(torch.equal(one.isfinite(), other.isfinite()) for one, other in floats)


def is_degenerate(expected: list[torch.Tensor]) -> bool:
    """Whether zeros, or one constant, would pass as every output."""
    return bool(expected) and all(_is_constant(tensor) for tensor in expected)


def _is_constant(tensor: torch.Tensor) -> bool:
    if tensor.numel() < 2 or not tensor.dtype.is_floating_point:
        return False
    flat = tensor.detach().flatten()
    finite = flat[:: max(1, flat.numel() // _SAMPLE)].float()
    tolerance = tolerance_of(tensor.dtype)
    for constant in (torch.zeros((), device=tensor.device), finite[finite.numel() // 2]):
        passed = ((finite - constant).abs() <= tolerance + tolerance * finite.abs()).double().mean()
        if float(passed) >= DEGENERATE_SHARE:
            return True
    return False


def _stride_fits(shape: list[int], have: list[int], want: list[int]) -> bool:
    """The reference's own stride or a contiguous one; dimensions of size 1 do not count."""
    matters = [index for index, size in enumerate(shape) if size > 1]
    if any(size == 0 for size in shape) or [have[i] for i in matters] == [want[i] for i in matters]:
        return True
    running = 1
    for index in reversed(matters):
        if have[index] != running:
            return False
        running *= shape[index]
    return True


def _blocks(one: torch.Tensor, other: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
    if one.numel() == 0:
        return []
    return list(zip(torch.split(one.flatten(), _BLOCK), torch.split(other.flatten(), _BLOCK), strict=True))


def _same_nonfinite(want: torch.Tensor, have: torch.Tensor) -> bool:
    if not (want.dtype.is_floating_point or want.dtype.is_complex):
        return True
    if want.dtype.is_complex:
        want, have = torch.view_as_real(want), torch.view_as_real(have)
    return bool(
        torch.equal(want.isnan(), have.isnan())
        and torch.equal(want.isposinf(), have.isposinf())
        and torch.equal(want.isneginf(), have.isneginf())
    )


def _errors(want: torch.Tensor, have: torch.Tensor, tolerance: float) -> tuple[float, float]:
    """Largest absolute error, and largest error in tolerances, over finite elements."""
    if want.numel() == 0:
        return 0.0, 0.0
    if tolerance == 0.0:
        differing = int((want != have).sum())
        return float(differing), 2.0 * min(differing, 1)
    wide = (
        torch.complex128 if want.dtype.is_complex else torch.float64 if want.dtype is torch.float64 else torch.float32
    )
    a, b = want.to(wide), have.to(wide)
    error = torch.where(a.isfinite(), (a - b).abs(), 0.0)
    ratio = torch.where(a.isfinite(), error / (tolerance + tolerance * a.abs()), 0.0)
    return float(error.max()), float(ratio.max())


def _spread(truth: torch.Tensor, have: torch.Tensor, tolerance: float) -> tuple[float, float]:
    """Largest and root mean square error against the oracle, in tolerances."""
    largest, squares, count = 0.0, 0.0, 0
    for a, b in _blocks(truth, have):
        is_finite = a.isfinite() & b.isfinite()
        error = torch.where(is_finite, (a - b.to(a.dtype)).abs() / (tolerance + tolerance * a.abs()), 0.0)
        largest, squares, count = (
            max(largest, float(error.max())),
            squares + float(error.square().sum()),
            count + a.numel(),
        )
    return largest, (squares / max(1, count)) ** 0.5
