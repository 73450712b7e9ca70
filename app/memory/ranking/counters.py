"""Counters as evidence: how often an item helped, smoothed so that being common is not being good."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PRIOR_HELPFUL = 2.0
PRIOR_HARMFUL = 1.0
READER_PRIOR = 4.0  # votes that the rate of all readers counts as, beside a reader's own
READER_SPAN = 0.4
USE_HALF = 8.0  # votes at which a generic item counts half as established


def smoothed_rate(helpful: NDArray[np.float64], harmful: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the Beta posterior, ``(helpful + 2) / (helpful + harmful + 3)``, in (0, 1).

    The prior Beta(2, 1) is one helpful vote above an even one. Without votes the rate is 2/3; 3/0 gives 0.83, 88/0
    gives 0.99, 12/8 gives 0.61: a hundred votes more change less than the first three.
    """
    prior = PRIOR_HELPFUL + PRIOR_HARMFUL
    return (helpful + PRIOR_HELPFUL) / (helpful + harmful + prior)


def rate_of_reader(
    helpful: NDArray[np.float64], harmful: NDArray[np.float64], rate: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return one reader's own rate, ``(helpful + 4 rate) / (helpful + harmful + 4)``, in (0, 1).

    It backs off to the rate of all readers, which counts as four votes: without votes of its own a reader thinks what
    all think, after four of them its own experience weighs as much as everybody else's. Sums below zero, left by
    a curator who took votes back, count as none.
    """
    helpful, harmful = np.maximum(helpful, 0.0), np.maximum(harmful, 0.0)
    return (helpful + READER_PRIOR * rate) / (helpful + harmful + READER_PRIOR)


def dissent(own: NDArray[np.float64], rate: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return from 0.6 to 1 how far a reader fares worse with an item than readers at large; 1 where it fares better."""
    return 1.0 - READER_SPAN * np.maximum(rate - own, 0.0) / rate


def establishment(helpful: NDArray[np.float64], harmful: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``votes / (votes + 8)`` in [0, 1): how far a generic item has proved to come up at all."""
    votes = helpful + harmful
    return votes / (votes + USE_HALF)
