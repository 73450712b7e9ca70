"""Loss: the mean over rows of one minus the cosine of predictions and targets; the output is one number."""

import torch
import torch.nn as nn

FAMILY = "loss"
SIZES = {"full": (4096, 8192), "small": (6, 64)}


class Model(nn.Module):
    def __init__(self, eps: float) -> None:
        super().__init__()
        self.eps = eps

    def forward(self, predicted: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        dot = (predicted * target).sum(dim=1)
        norms = predicted.norm(dim=1) * target.norm(dim=1)
        return (1 - dot / norms.clamp_min(self.eps)).mean()


def get_inputs(size="full"):
    predicted = torch.randn(*SIZES[size])
    # Related, as predictions are: of independent ones the mean is 1 within the tolerance, whatever was computed.
    return [predicted, predicted + torch.randn(*SIZES[size])]


def get_init_inputs(size="full"):
    return [1e-6]
