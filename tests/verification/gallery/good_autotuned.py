"""Honest: autotuned over two block sizes; each configuration writes the whole output."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({'BLOCK': 256}), triton.Config({'BLOCK': 1024})], key=['count'])
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


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))

    def forward(self, x, residual):
        out = torch.empty_like(x)
        count = x.numel()
        scaled_gelu_kernel[lambda meta: (triton.cdiv(count, meta['BLOCK']),)](x, self.scale, residual, out, x.shape[1], count)
        return out
