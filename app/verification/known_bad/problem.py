"""The problem of the known-bad candidates: a pointwise step that leaves no doubt about what is right."""

import torch
import torch.nn as nn

FAMILY = "elementwise"


class Model(nn.Module):
    """Clamp below at zero, scale, shift."""

    def forward(self, x):
        """`x` is of shape (rows, columns)."""
        return torch.relu(x) * 1.75 + 0.5


def get_inputs(size="full"):
    """Normal values, half of them below zero."""
    rows, columns = (32, 512) if size == "small" else (4096, 8192)
    return [torch.randn(rows, columns)]


def get_init_inputs():
    """None."""
    return []
