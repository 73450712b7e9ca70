"""Measured figures inside advice: printing them, and taking them out."""

import re
from decimal import ROUND_HALF_EVEN, Decimal

CENT = Decimal("0.01")

_APPROXIMATE_SPEEDUP = re.compile(r" \(~\d+(?:\.\d+)?x\)")


def ratio(value: Decimal) -> str:
    """A speedup as contexts print it: two decimals, half to even, no unit."""
    return str(value.quantize(CENT, rounding=ROUND_HALF_EVEN))


def without_figures(text: str) -> str:
    """The text less its parenthesised speedups, such as ` (~1.005x)`."""
    return _APPROXIMATE_SPEEDUP.sub("", text)
