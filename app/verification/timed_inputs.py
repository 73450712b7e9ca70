"""What changes while a run is timed: inputs in every round, weights and whole numbers now and then. The same bits in
both processes.
"""

import torch

from app.verification.protocol import (
    TIMING_FACTOR_HIGH,
    TIMING_FACTOR_LOW,
    WEIGHT_FACTOR_HIGH,
    WEIGHT_FACTOR_LOW,
    WEIGHT_SHARE,
)

_LEFT_ALONE = 8
"""One in so many elements at either end of a weight keeps its value when the weights change."""

_FEW = 64
"""Weights with fewer elements change in their whole interior."""

_IS_FLOAT = torch.Tensor.is_floating_point
_COPY = torch.Tensor.copy_
_UNIFORM = torch.Tensor.uniform_
_MULTIPLY = torch.Tensor.mul_
_SEED = torch.Generator.manual_seed
_STATE = torch.nn.Module.state_dict
_LOAD = torch.nn.Module.load_state_dict


class TimedInputs:
    """Writes base * random into float `tensors`, element by element; others get their base.

    One factor for a whole tensor would not do: the result of a homogeneous function could be scaled, not computed.
    """

    def __init__(self, base: list[torch.Tensor], tensors: list[torch.Tensor]) -> None:
        self._base = [tensor.detach() for tensor in base]
        self.tensors = [tensor.detach() for tensor in tensors]
        self._generators = [torch.Generator(device=tensor.device) for tensor in tensors]

    def refresh(self, seed: int) -> None:
        """Write the values of `seed`; the same on devices of one kind with one version of torch."""
        for index, tensor in enumerate(self.tensors):
            self._write(index, seed, tensor)

    @property
    def whole_numbers(self) -> list[torch.Tensor]:
        """Bases of the tensors that are no floats: indices, masks, lengths."""
        return _whole_numbers(self._base)

    def renew_whole_numbers(self, drawn: list[torch.Tensor]) -> list[torch.Tensor]:
        """Put those among `drawn` in their place and return them; none where they have other shapes."""
        fresh = [tensor.contiguous() for tensor in _whole_numbers(drawn)]
        if [(t.shape, t.dtype) for t in fresh] != [(t.shape, t.dtype) for t in self.whole_numbers]:
            return []
        for base, value in zip(self.whole_numbers, fresh, strict=True):
            _COPY(base, value)
        return fresh

    def are_untouched(self, seed: int) -> bool:
        """Whether the tensors still hold the values of `seed`, bit by bit."""
        return all(
            same_bytes(tensor, self._write(index, seed, torch.empty_like(tensor)))
            for index, tensor in enumerate(self.tensors)
        )

    def _write(self, index: int, seed: int, into: torch.Tensor) -> torch.Tensor:
        base, generator = self._base[index], self._generators[index]
        if not _IS_FLOAT(into):
            return _COPY(into, base)
        _SEED(generator, seed + index)
        return _MULTIPLY(_UNIFORM(into, TIMING_FACTOR_LOW, TIMING_FACTOR_HIGH, generator=generator), base)


def change_weights(model: torch.nn.Module, names: list[str], seed: int) -> None:
    """Scale elements in the interior of the named float weights, by load_state_dict: addresses and outer elements stay.

    Which elements change, and by how much, follows from `seed`: up or down, so that weights keep their size.
    """
    state = {name: tensor.detach().clone() for name, tensor in _STATE(model).items()}
    for index, name in enumerate(names):
        if state[name].is_floating_point():
            state[name] = _scaled_inside(state[name].contiguous(), seed + index)
    _LOAD(model, state, strict=True)


def _scaled_inside(tensor: torch.Tensor, seed: int) -> torch.Tensor:
    generator = torch.Generator(device=tensor.device)
    _SEED(generator, seed)
    flat = tensor.view(-1)
    margin = flat.numel() // _LEFT_ALONE
    inside = flat[margin : flat.numel() - margin]
    drawn = _UNIFORM(torch.empty_like(inside, dtype=torch.float32), 0.0, 1.0, generator=generator)
    factor = _UNIFORM(torch.empty((), device=tensor.device), WEIGHT_FACTOR_LOW, WEIGHT_FACTOR_HIGH, generator=generator)
    share = WEIGHT_SHARE if flat.numel() >= _FEW else 1.0
    inside *= torch.where(drawn < share / 2, factor, torch.where(drawn < share, 1 / factor, 1.0)).to(tensor.dtype)
    return tensor


def _whole_numbers(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """The tensors that are no floats."""
    return [tensor for tensor in tensors if not _IS_FLOAT(tensor)]


def same_bytes(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors of one shape and dtype hold the same bits."""
    return torch.equal(_bytes_of(one), _bytes_of(other))


def _bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous().reshape(-1).view(torch.uint8)
