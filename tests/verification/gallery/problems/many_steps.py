"""Ninety small steps over a large tensor: milliseconds of eager, in which something else may use the GPU."""

import torch
import torch.nn as nn

SIZES = {"full": (8192, 8192), "small": (4, 64)}
STEPS = 30


class Model(nn.Module):
    def forward(self, x):
        for _ in range(STEPS):
            x = x + 0.02 * torch.sin(x)
        return x


def get_inputs(size="full"):
    return [torch.randn(*SIZES[size])]


def get_init_inputs(size="full"):
    return []
