"""Declares no weight where the reference has one."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()

    def forward(self, x, residual):
        return torch.nn.functional.gelu(x) + residual
