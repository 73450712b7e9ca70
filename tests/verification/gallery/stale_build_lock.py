"""Waits for a lock in its build folder that nobody will release."""

import os

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

FOLDER = os.path.join(os.environ["TORCH_EXTENSIONS_DIR"], "locked_extension")
os.makedirs(FOLDER, exist_ok=True)
with open(os.path.join(FOLDER, "lock"), "w") as file:
    file.write("")
MODULE = load_inline(name="locked_extension", cpp_sources="int one() { return 1; }", functions=["one"])


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))

    def forward(self, x, residual):
        return x * MODULE.one()
