"""Honest: hundreds of launches in a call, so that the host sets the pace."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def recurrence_step_kernel(x_ptr, weight_ptr, before_ptr, after_ptr, width, count, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    x = tl.load(x_ptr + index, mask=mask, other=0.0)
    weight = tl.load(weight_ptr + index % width, mask=mask, other=0.0)
    value = x + weight * tl.load(before_ptr + index, mask=mask, other=0.0)
    tl.store(after_ptr + index, 2.0 * tl.sigmoid(2.0 * value) - 1.0, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        out = torch.empty_like(x)
        before = torch.zeros_like(x[0])
        count = before.numel()
        for step, after in zip(x, out):
            grid = (triton.cdiv(count, 256),)
            recurrence_step_kernel[grid](step, self.weight, before, after, x.shape[-1], count, BLOCK=256)
            before = after
        return out
