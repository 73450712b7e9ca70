"""Counters as evidence: how often an item helped, smoothed so that being common is not being good."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PRIOR_HELPFUL = 2.0
PRIOR_HARMFUL = 1.0
USE_HALF = 8.0  # votes at which a generic item counts half as established


def smoothed_rate(helpful: NDArray[np.float64], harmful: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the Beta posterior, ``(helpful + 2) / (helpful + harmful + 3)``, in (0, 1).

    The prior Beta(2, 1) is one helpful vote above an even one. Without votes the rate is 2/3; 3/0 gives 0.83, 88/0
    gives 0.99, 12/8 gives 0.61: a hundred votes more change less than the first three.
    """
    prior = PRIOR_HELPFUL + PRIOR_HARMFUL
    return (helpful + PRIOR_HELPFUL) / (helpful + harmful + prior)


def establishment(helpful: NDArray[np.float64], harmful: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``votes / (votes + 8)`` in [0, 1): how far a generic item has proved to come up at all."""
    votes = helpful + harmful
    return votes / (votes + USE_HALF)
