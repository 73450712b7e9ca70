"""Normalisation with two outputs: the sum of input and residual, and its RMS norm times a weight."""

import torch
import torch.nn as nn

FAMILY = "norm"
SIZES = {"full": (16384, 4096), "small": (7, 80)}


class Model(nn.Module):
    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: torch.Tensor, residual: torch.Tensor):
        total = x + residual
        inverse = torch.rsqrt(total.square().mean(dim=-1, keepdim=True) + self.eps)
        return total * inverse * self.weight, total


def get_inputs(size="full"):
    rows, width = SIZES[size]
    return [torch.randn(rows, width), torch.randn(rows, width)]


def get_init_inputs(size="full"):
    return [SIZES[size][1], 1e-6]
