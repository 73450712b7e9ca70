"""Honest: divides by a number that its kernel counts, which is nothing without the kernel."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def distance_kernel(predicted_ptr, target_ptr, total_ptr, count_ptr, width, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    mask = column < width
    a = tl.load(predicted_ptr + row * width + column, mask=mask, other=0.0)
    b = tl.load(target_ptr + row * width + column, mask=mask, other=0.0)
    norms = tl.sqrt(tl.sum(a * a, axis=0)) * tl.sqrt(tl.sum(b * b, axis=0))
    tl.atomic_add(total_ptr, 1.0 - tl.sum(a * b, axis=0) / tl.maximum(norms, eps))
    tl.atomic_add(count_ptr, 1)


class ModelNew(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, predicted, target):
        rows, width = predicted.shape
        total = torch.zeros(1, device=predicted.device)
        count = torch.zeros(1, device=predicted.device, dtype=torch.int32)
        block = triton.next_power_of_2(width)
        distance_kernel[(rows,)](predicted, target, total, count, width, self.eps, BLOCK=block, num_warps=8)
        return torch.tensor(total.item() / count.item(), device=predicted.device)
