"""Seeding torch's generators without torch's function for it, which a candidate can replace."""

from collections.abc import Callable

import torch


class GeneratorSeeds:
    """Holds the C methods of the default generators. Made before a candidate is imported."""

    def __init__(self) -> None:
        generators = [torch.default_generator]
        if torch.cuda.is_available():
            torch.cuda.init()  # type: ignore[no-untyped-call]
            generators += torch.cuda.default_generators
        self._methods: list[Callable[[int], object]] = [generator.manual_seed for generator in generators]

    def __call__(self, seed: int) -> None:
        """What torch.manual_seed does for the CPU and for CUDA devices."""
        for method in self._methods:
            method(seed)
