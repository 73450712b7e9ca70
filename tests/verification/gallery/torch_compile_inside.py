"""Hands the work to torch.compile."""

import torch
import torch.nn as nn

FUSED = torch.compile(lambda x, scale, residual: torch.nn.functional.gelu(x * scale) + residual)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))

    def forward(self, x, residual):
        return FUSED(x, self.scale, residual)
