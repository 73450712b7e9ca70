"""Honest: two outputs from one kernel."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def rms_kernel(x_ptr, residual_ptr, weight_ptr, out_ptr, total_ptr, width, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * width
    column = tl.arange(0, BLOCK)
    mask = column < width
    total = tl.load(x_ptr + row + column, mask=mask, other=0.0)
    total += tl.load(residual_ptr + row + column, mask=mask, other=0.0)
    inverse = 1.0 / tl.sqrt(tl.sum(total * total, axis=0) / width + eps)
    weight = tl.load(weight_ptr + column, mask=mask, other=0.0)
    tl.store(out_ptr + row + column, total * inverse * weight, mask=mask)
    tl.store(total_ptr + row + column, total, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x, residual):
        out, total = torch.empty_like(x), torch.empty_like(x)
        width = x.shape[1]
        rms_kernel[(x.shape[0],)](
            x, residual, self.weight, out, total, width, self.eps, BLOCK=triton.next_power_of_2(width)
        )
        return out, total
