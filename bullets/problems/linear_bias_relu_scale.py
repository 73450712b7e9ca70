"""Matrix product with an epilogue: a linear layer, ReLU, and a learned scale per output feature."""

import torch
import torch.nn as nn

FAMILY = "matmul"
SIZES = {"full": (4096, 2048, 4096), "small": (12, 32, 24)}


class Model(nn.Module):
    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.scale = nn.Parameter(torch.ones(out_features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) * self.scale


def get_inputs(size="full"):
    rows, in_features, _ = SIZES[size]
    return [torch.rand(rows, in_features)]


def get_init_inputs(size="full"):
    return [SIZES[size][1], SIZES[size][2]]
