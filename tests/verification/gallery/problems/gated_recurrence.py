"""A recurrence over many short steps: a call of hundreds of launches that each take microseconds."""

import torch
import torch.nn as nn

SIZES = {"full": (500, 64, 64), "small": (4, 4, 16)}


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.full((width,), 0.5))

    def forward(self, x):
        state = torch.zeros_like(x[0])
        states = []
        for step in x:
            state = torch.tanh(step + self.weight * state)
            states.append(state)
        return torch.stack(states)


def get_inputs(size="full"):
    return [torch.randn(*SIZES[size])]


def get_init_inputs(size="full"):
    return [SIZES[size][-1]]
