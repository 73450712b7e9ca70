"""Never leaves a loop inside its kernel."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def endless_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    value = tl.load(x_ptr + index)
    turns = 1
    while turns > 0:
        value += tl.load(x_ptr + index)
        tl.store(out_ptr + index, value)
        turns = tl.where(turns > 1000, 1, turns + 1)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))

    def forward(self, x, residual):
        out = torch.empty_like(x)
        endless_kernel[(1,)](x, out, BLOCK=64)
        return out
