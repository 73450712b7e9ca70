"""Honest: a mean over millions of elements, from partial sums."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def squares_kernel(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    difference = tl.load(x_ptr + index, mask=mask, other=0.0) - tl.load(y_ptr + index, mask=mask, other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(difference * difference, axis=0))


class ModelNew(nn.Module):
    def forward(self, x, y):
        count, block = x.numel(), 16384
        parts = torch.empty(triton.cdiv(count, block), device=x.device)
        squares_kernel[(parts.numel(),)](x, y, parts, count, BLOCK=block)
        return parts.sum() / count
