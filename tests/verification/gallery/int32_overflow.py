"""Counts elements in 32 bits: the tail of a tensor of more than 2^31 elements stays unwritten."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def double_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = index >= 0
    tl.store(out_ptr + index, tl.load(x_ptr + index, mask=mask) * 2.0, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.zeros_like(x)
        double_kernel[(triton.cdiv(x.numel(), 4096),)](x, out, BLOCK=4096)
        return out
