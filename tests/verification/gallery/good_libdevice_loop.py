"""Honest: a libdevice function and a cast loop variable, which the interpreter lacks."""

import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice


@triton.jit
def tanh_sum_kernel(x_ptr, out_ptr, width, blocks, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for block in range(blocks):
        column = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        total += libdevice.tanh(tl.load(x_ptr + row * width + column, mask=column < width, other=0.0))
    tl.store(out_ptr + row, tl.sum(total, axis=0))


class ModelNew(nn.Module):
    def forward(self, x):
        out = torch.empty(x.shape[0], device=x.device)
        blocks = triton.cdiv(x.shape[1], 64)
        tanh_sum_kernel[(x.shape[0],)](x, out, x.shape[1], blocks, BLOCK=64)
        return out
