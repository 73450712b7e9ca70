"""Honest: sums of rows that whole numbers name."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def bag_kernel(ids_ptr, table_ptr, out_ptr, bag, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, BLOCK)
    mask = column < width
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for place in range(bag):
        line = tl.load(ids_ptr + row * bag + place)
        total += tl.load(table_ptr + line * width + column, mask=mask, other=0.0)
    tl.store(out_ptr + row * width + column, total, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Parameter(torch.randn(vocabulary, width))

    def forward(self, ids):
        rows, bag = ids.shape
        width = self.table.shape[1]
        out = torch.empty(rows, width, device=ids.device)
        bag_kernel[(rows,)](ids, self.table, out, bag, width, BLOCK=triton.next_power_of_2(width))
        return out
