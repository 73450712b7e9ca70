"""Honest: two streams share the work and are joined before forward returns."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

STREAMS = [torch.cuda.Stream(), torch.cuda.Stream()]


@triton.jit
def scaled_gelu_kernel(x_ptr, scale_ptr, residual_ptr, out_ptr, first, channels, count, BLOCK: tl.constexpr):
    index = first + tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
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
        half, count = x.numel() // 2, x.numel()
        caller = torch.cuda.current_stream()
        for stream, first, end in zip(STREAMS, (0, half), (half, count)):
            stream.wait_stream(caller)
            with torch.cuda.stream(stream):
                grid = (triton.cdiv(end - first, 1024),)
                scaled_gelu_kernel[grid](x, self.scale, residual, out, first, x.shape[1], end, BLOCK=1024)
        for stream in STREAMS:
            caller.wait_stream(stream)
        return out
