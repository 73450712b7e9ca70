"""Returns one output of two."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x, residual):
        total = x + residual
        return total * torch.rsqrt(total.square().mean(-1, keepdim=True) + self.eps) * self.weight
