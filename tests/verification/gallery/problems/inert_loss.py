"""A loss of one number that no change of the inputs moves beyond the tolerance."""

import torch
import torch.nn as nn

SIZES = {"full": (4096, 4096), "small": (64, 64)}


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 1 + 1e-9 * x.mean()


def get_inputs(size="full"):
    return [torch.randn(*SIZES[size])]


def get_init_inputs(size="full"):
    return []
