"""Declares a weight with one element too many."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels + 1))

    def forward(self, x, residual):
        return torch.nn.functional.gelu(x * self.scale[:-1]) + residual
