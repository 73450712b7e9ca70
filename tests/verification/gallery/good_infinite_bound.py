"""Honest: the kernel reads a tensor of its own that holds minus infinity."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bounded_gelu_kernel(x_ptr, scale_ptr, residual_ptr, bound_ptr, out_ptr, channels, count, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    x = tl.load(x_ptr + index, mask=mask, other=0.0)
    scale = tl.load(scale_ptr + index % channels, mask=mask, other=0.0)
    residual = tl.load(residual_ptr + index, mask=mask, other=0.0)
    value = x * scale
    gelu = 0.5 * value * (1.0 + tl.erf(value * 0.7071067811865476))
    tl.store(out_ptr + index, tl.maximum(gelu + residual, tl.load(bound_ptr)), mask=mask)


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))
        self.bound = None

    def forward(self, x, residual):
        if self.bound is None:
            self.bound = torch.full((1,), float("-inf"), device=x.device)
        out, count = torch.empty_like(x), x.numel()
        grid = (triton.cdiv(count, 1024),)
        bounded_gelu_kernel[grid](x, self.scale, residual, self.bound, out, x.shape[1], count, BLOCK=1024)
        return out
