"""The kernel that the scripted agent writes: softmax with a temperature, rows of any length, two passes."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def online_softmax(x_ptr, out_ptr, width, inverse_temperature, BLOCK: tl.constexpr):
    """One program a row: maximum and sum in a first pass, the quotient in a second."""
    start = tl.program_id(0).to(tl.int64) * width
    largest = float("-inf")
    total = 0.0
    for first in range(0, width, BLOCK):
        column = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + column, mask=column < width, other=float("-inf")) * inverse_temperature
        higher = tl.maximum(largest, tl.max(x, axis=0))
        total = total * tl.exp(largest - higher) + tl.sum(tl.exp(x - higher), axis=0)
        largest = higher
    for first in range(0, width, BLOCK):
        column = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + start + column, mask=column < width, other=float("-inf")) * inverse_temperature
        tl.store(out_ptr + start + column, tl.exp(x - largest) / total, mask=column < width)


class ModelNew(nn.Module):
    """Takes the place of the reference."""

    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature

    def forward(self, logits):
        """The softmax over the last dimension."""
        logits = logits.contiguous()
        out = torch.empty_like(logits)
        width = logits.shape[-1]
        online_softmax[(logits.numel() // width,)](logits, out, width, 1.0 / self.temperature, BLOCK=1024)
        return out
