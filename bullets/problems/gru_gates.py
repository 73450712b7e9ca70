"""Recurrence: the pointwise part of one GRU step after both projections, as three gates and a blend with the state."""

import torch
import torch.nn as nn

FAMILY = "rnn"
SIZES = {"full": (4096, 512, 2048), "small": (4, 12, 20)}


class Model(nn.Module):
    def __init__(self, in_features: int, hidden: int) -> None:
        super().__init__()
        self.project_input = nn.Linear(in_features, 3 * hidden)
        self.project_state = nn.Linear(hidden, 3 * hidden)

    def forward(self, x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
        input_reset, input_update, input_new = self.project_input(x).chunk(3, dim=1)
        state_reset, state_update, state_new = self.project_state(state).chunk(3, dim=1)
        reset = torch.sigmoid(input_reset + state_reset)
        update = torch.sigmoid(input_update + state_update)
        new = torch.tanh(input_new + reset * state_new)
        return (1 - update) * new + update * state


def get_inputs(size="full"):
    batch, in_features, hidden = SIZES[size]
    return [torch.randn(batch, in_features), torch.randn(batch, hidden)]


def get_init_inputs(size="full"):
    return [SIZES[size][1], SIZES[size][2]]
