"""Sums of rows of a table; the only input is whole numbers."""

import torch
import torch.nn as nn

SIZES = {"full": (4096, 128, 50000, 256), "small": (6, 5, 40, 32)}


class Model(nn.Module):
    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(vocabulary, width))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.table[ids].sum(dim=1)


def get_inputs(size="full"):
    rows, bag, vocabulary, _ = SIZES[size]
    return [torch.randint(0, vocabulary, (rows, bag))]


def get_init_inputs(size="full"):
    return list(SIZES[size][2:])
