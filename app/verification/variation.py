"""New weights and inputs for the correctness cases, from seeds that only the reference's process knows."""

from typing import Any

import torch

from app.verification.exchange import UnsupportedValue, to_tree
from app.verification.problem import LoadedProblem, ProblemFault
from app.verification.protocol import MODULATION_HIGH, MODULATION_LOW, WEIGHT_NOISE, ZERO_WEIGHT_NOISE

_NORM_LAYERS = (
    torch.nn.modules.batchnorm._NormBase,
    torch.nn.InstanceNorm1d, torch.nn.InstanceNorm2d, torch.nn.InstanceNorm3d,
)  # fmt: skip
_CHANGE_TRIES = 4
_OUTLIERS = 8
_FEWEST = 8
_OUTLIER_SIZES = (1e4, 1e2)
_LARGEST_HALF = 1e3


def draw_inputs(problem: LoadedProblem, device: torch.device, seed: int) -> tuple[Any, list[torch.Tensor]]:
    """The problem's own inputs under a seed: a tree and its tensors on the device. Raises ProblemFault.

    Drawn straight on the device where the problem's code allows it, else on the CPU and moved.
    """
    torch.manual_seed(seed)
    try:
        with torch.device(device):
            values = problem.inputs()
    except (RuntimeError, TypeError):
        torch.manual_seed(seed)
        values = problem.inputs()
    tensors: list[torch.Tensor] = []
    try:
        tree = to_tree(list(values), tensors)
    except UnsupportedValue as fault:
        raise ProblemFault(f"an input is {fault}") from fault
    return tree, [tensor.to(device) for tensor in tensors]


def randomise_weights(model: torch.nn.Module, seed: int) -> None:
    """Put noise on all parameters and on the running statistics of norm layers, in place.

    Other buffers are constants of the problem (masks, position tables) and keep their values.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            _add_noise(parameter, generator)
        for layer in model.modules():
            if isinstance(layer, _NORM_LAYERS) and layer.running_mean is not None and layer.running_var is not None:
                _add_noise(layer.running_mean, generator)
                _add_noise(layer.running_var, generator)
                layer.running_var.abs_().add_(0.1)


def _add_noise(tensor: torch.Tensor, generator: torch.Generator) -> None:
    """x (1 + noise) + noise * rms(x), or a fixed size of noise where x is all zero. Integers are left alone."""
    if not tensor.is_floating_point() or tensor.numel() == 0 or not bool(tensor.isfinite().all()):
        return
    local = torch.Generator(device=tensor.device)
    local.manual_seed(int(torch.randint(2**62, (), generator=generator)))
    scale = float(tensor.float().square().mean().sqrt())
    size = WEIGHT_NOISE * scale if scale > 0 else ZERO_WEIGHT_NOISE
    shape, device = tensor.shape, tensor.device
    factor = 1 + WEIGHT_NOISE * torch.randn(shape, generator=local, device=device, dtype=torch.float32)
    noise = size * torch.randn(shape, generator=local, device=device, dtype=torch.float32)
    tensor.copy_(tensor * factor + noise)


def modulate(inputs: list[torch.Tensor], seed: int) -> list[torch.Tensor]:
    """Float inputs times a random factor per element and one per tensor: other moments, same zeros, signs and range."""
    changed = []
    for index, tensor in enumerate(inputs):
        if not tensor.is_floating_point():
            changed.append(tensor.clone())
            continue
        local = torch.Generator(device=tensor.device)
        local.manual_seed(seed + index)
        factor = torch.rand(tensor.shape, generator=local, device=tensor.device, dtype=torch.float32)
        overall = 0.5 + 0.5 * float(torch.rand((), generator=torch.Generator().manual_seed(seed + index)))
        factor = (MODULATION_LOW + (MODULATION_HIGH - MODULATION_LOW) * factor) * overall
        changed.append((tensor * factor).to(tensor.dtype))
    return changed


def change_one_element(inputs: list[torch.Tensor], attempt: int, seed: int) -> list[torch.Tensor]:
    """A copy in which one interior element of one float input has another value that occurs in the tensor.

    Later attempts take another input and place. What follows is for problems that one element cannot move beyond the
    tolerance: a few interior elements become outliers, and at last the whole interior is halved. First and last
    elements always stay.
    """
    changed = [tensor.clone() for tensor in inputs]
    floats = changeable(changed)
    if not floats:
        return changed
    generator = torch.Generator().manual_seed(seed + attempt)
    target = floats[attempt % len(floats)].view(-1)
    count = target.numel()
    low, high = count // 4, 3 * count // 4
    if attempt >= _CHANGE_TRIES + len(_OUTLIER_SIZES) * len(floats):
        target[count // 8 : -(count // 8)] *= 0.5
        return changed
    if attempt >= _CHANGE_TRIES:
        _put_outliers(target, low, high, _OUTLIER_SIZES[(attempt - _CHANGE_TRIES) // len(floats)], generator)
        return changed
    place = int(torch.randint(low, high, (), generator=generator))
    window = target[low:high]
    nonzero = window.nonzero()
    if nonzero.numel() and float(target[place]) == 0.0:
        place = low + int(nonzero[nonzero.shape[0] // 2])
    furthest = window.max() if float(target[place]) < float(window.float().mean()) else window.min()
    target[place] = furthest
    return changed


def changeable(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """Those with an interior that may be changed: floats of a few elements and more."""
    return [tensor for tensor in inputs if tensor.is_floating_point() and tensor.numel() >= _FEWEST]


def _put_outliers(flat: torch.Tensor, low: int, high: int, size: float, generator: torch.Generator) -> None:
    """Set a few elements between two places to as many times the largest one, each to another part of that, so that no
    share of them stands for the rest. Negative where there are negative elements, as that overflows less often.
    """
    sign = 1.0 if bool((flat >= 0).all()) else -1.0
    largest = size * max(float(flat.nan_to_num(0.0, 0.0, 0.0).abs().max()), 1.0)
    if flat.dtype in (torch.float16, torch.bfloat16):
        largest = min(largest, _LARGEST_HALF)
    places = torch.randint(low, high, (_OUTLIERS,), generator=generator)
    values = sign * largest * (0.3 + 0.7 * torch.rand(_OUTLIERS, generator=generator))
    flat[places.to(flat.device)] = values.to(flat.device, flat.dtype)


def change_attempts(inputs: list[torch.Tensor], with_outliers: bool) -> list[int]:
    """The attempts in order: single elements, outliers of each size in each input, then the interior as a whole, once
    for each of a few inputs.
    """
    floats = len(changeable(inputs))
    halves = _CHANGE_TRIES + len(_OUTLIER_SIZES) * floats
    outliers = range(_CHANGE_TRIES, halves if with_outliers else _CHANGE_TRIES)
    return [*range(_CHANGE_TRIES), *outliers, halves, halves + 1]
