"""Writes far outside its memory."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def stray_kernel(out_ptr, distance, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK).to(tl.int64) + distance
    tl.store(out_ptr + index, 1.0)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))

    def forward(self, x, residual):
        out = torch.empty_like(x)
        stray_kernel[(1,)](out, 2**44, BLOCK=1024)
        return out
