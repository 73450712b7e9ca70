"""Items and modules shared by the tests of the pure core."""

from __future__ import annotations

import pytest

from app.memory.applies_when import AppliesWhen
from app.memory.ranking import CompiledItems, ItemFacts, compile_items

CONV_CHAIN = AppliesWhen(
    families=("conv", "activation"),
    anchor=("conv2d", "hardswish"),
    chain=("conv2d", "hardswish", "relu"),
    required=("any_convolution", "any_activation"),
    optional=("hardswish", "relu"),
    topics=("epilogue_fusion",),
    one_line="Convolution and a pointwise chain: one fused pass.",
)
LINEAR_NORM = AppliesWhen(
    families=("matmul", "norm"),
    anchor=("linear", "group_norm"),
    chain=("linear", "group_norm", "hardtanh"),
    required=("linear", "group_norm"),
    optional=("hardtanh",),
    one_line="Linear and group norm.",
)
TRANSPOSED = AppliesWhen(
    families=("conv_transpose",),
    anchor=("conv_transpose3d",),
    chain=("any_conv_transpose",),
    required=("any_conv_transpose",),
    regimes=("strided",),
    key_regimes=("strided",),
    topics=("conv_rewrite",),
    one_line="Strided transposed convolution by phases.",
)
POOLED = AppliesWhen(
    families=("conv_transpose", "norm", "pooling"),
    anchor=("batch_norm", "avg_pool3d"),
    chain=("conv_transpose3d", "batch_norm", "avg_pool3d"),
    required=("any_convolution", "any_avg_pool"),
    optional=("batch_norm",),
    one_line="Batch norm and average pools after a transposed convolution.",
)
HABIT = AppliesWhen(generic=True, topics=("submission",), one_line="Include the whole module in every reply.")
RECORDS = {
    "conv-chain": CONV_CHAIN,
    "linear-norm": LINEAR_NORM,
    "transposed": TRANSPOSED,
    "pooled": POOLED,
    "habit": HABIT,
}


@pytest.fixture
def items() -> CompiledItems:
    """Five items of different kinds."""
    return compile_items([ItemFacts(name, record, helpful=3) for name, record in RECORDS.items()])


MODULE = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, a, b, k, s):
        super().__init__()
        self.up = nn.ConvTranspose3d(a, b, k, s, padding=1)
        self.bn = nn.BatchNorm3d(b)
        self.pool = nn.AvgPool3d(2)

    def forward(self, x):
        return self.pool(self.bn(self.up(x)))


def get_inputs():
    return [torch.rand(64, 3, 32, 32, 32)]


def get_init_inputs():
    return [3, 16, 3, 2]
"""


@pytest.fixture
def module() -> str:
    """A module: strided transposed convolution, batch norm, average pool."""
    return MODULE
