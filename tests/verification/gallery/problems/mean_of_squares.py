"""The mean squared difference of two matrices, one number: no single element moves it beyond the tolerance."""

import torch
import torch.nn as nn

SIZES = {"full": (8192, 4096), "small": (1024, 4096)}


class Model(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return ((x - y) ** 2).mean()


def get_inputs(size="full"):
    return [torch.rand(*SIZES[size]), torch.rand(*SIZES[size])]


def get_init_inputs(size="full"):
    return []
