"""Honest: derived weights are kept while the weights they come from are the same."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scaled_gelu_kernel(x_ptr, scale_ptr, residual_ptr, out_ptr, channels, count, BLOCK: tl.constexpr):
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    x = tl.load(x_ptr + index, mask=mask, other=0.0)
    scale = tl.load(scale_ptr + index % channels, mask=mask, other=0.0)
    residual = tl.load(residual_ptr + index, mask=mask, other=0.0)
    value = x * scale
    gelu = 0.5 * value * (1.0 + tl.erf(value * 0.7071067811865476))
    tl.store(out_ptr + index, gelu + residual, mask=mask)


def launch(x, scale, residual, out):
    count = x.numel()
    scaled_gelu_kernel[(triton.cdiv(count, 1024),)](x, scale, residual, out, x.shape[1], count, BLOCK=1024)
    return out


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))
        self.source = self.derived = None

    def forward(self, x, residual):
        if self.source is None or not torch.equal(self.source, self.scale):
            self.source = self.scale.detach().clone()
            self.derived = self.source.contiguous()
        return launch(x, self.derived, residual, torch.empty_like(x))
