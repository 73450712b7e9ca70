"""Calls torch operators and nothing else."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))

    def forward(self, x, residual):
        return torch.nn.functional.gelu(x * self.scale) + residual
