"""Matrix product with structure: a lower triangular matrix times a vector per batch row; half the reads are zeros."""

import torch
import torch.nn as nn

FAMILY = "matmul"
SIZES = {"full": (8, 6144), "small": (3, 40)}


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, matrix: torch.Tensor, vector: torch.Tensor) -> torch.Tensor:
        return torch.bmm(torch.tril(matrix), vector.unsqueeze(-1)).squeeze(-1)


def get_inputs(size="full"):
    batch, width = SIZES[size]
    return [torch.randn(batch, width, width) / width**0.5, torch.randn(batch, width)]


def get_init_inputs(size="full"):
    return []
