"""Defines no ModelNew."""

import torch.nn as nn


class Better(nn.Module):
    pass
