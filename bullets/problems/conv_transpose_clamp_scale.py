"""Transposed convolution with an epilogue: stride 2, then clamp and a scale."""

import torch
import torch.nn as nn

FAMILY = "conv_transpose"
SIZES = {"full": (16, 32, 32, 128), "small": (2, 3, 4, 6)}


class Model(nn.Module):
    def __init__(self, in_channels: int, out_channels: int, low: float, high: float, scale: float) -> None:
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, 3, stride=2, padding=1, output_padding=1)
        self.low, self.high, self.scale = low, high, scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.clamp(self.conv(x), self.low, self.high) * self.scale


def get_inputs(size="full"):
    batch, in_channels, _, side = SIZES[size]
    return [torch.rand(batch, in_channels, side, side)]


def get_init_inputs(size="full"):
    return [SIZES[size][1], SIZES[size][2], -0.5, 0.5, 3.0]
