"""More than 2^31 elements in half precision, so that 32-bit element counts overflow."""

import torch
import torch.nn as nn

SIZES = {"full": 2**31 + 2**20, "small": 2**12}


class Model(nn.Module):
    def forward(self, x):
        return x * 2.0


def get_inputs(size="full"):
    return [torch.rand(2**12).half().repeat(SIZES[size] // 2**12)]


def get_init_inputs(size="full"):
    return []
