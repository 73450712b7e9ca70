"""Scan: the exclusive running sum along each row."""

import torch
import torch.nn as nn

FAMILY = "scan"
SIZES = {"full": (8192, 4096), "small": (5, 48)}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(x, dim=1) - x


def get_inputs(size="full"):
    return [torch.rand(*SIZES[size]) - 0.5]


def get_init_inputs(size="full"):
    return []
