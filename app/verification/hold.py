"""How long the device is held before a timed call: until its launches are enqueued, unless they are what takes long.

A call that enqueues for almost as long as the device works is held up on a slow host and not on a quick one. It is
timed behind a longer hold, so that its launches never count. A call whose launches take most of its time is left as it
is: fewer launches are a gain there.
"""

from collections.abc import Callable
from dataclasses import dataclass

from app.verification.protocol import HOLD_FACTOR, HOLD_MS, HOLD_ROUNDS, LAUNCH_BOUND_SHARE, LONGEST_HOLD_MS
from app.verification.statistics import median_of

_LEAST_MS = 1e-6
"""A candidate may claim to take no time at all; the outside clock deals with that."""


@dataclass(frozen=True)
class Call:
    """Milliseconds of one call: on its stream, and until the host had enqueued it."""

    stream_ms: float
    enqueue_ms: float


@dataclass(frozen=True)
class Hold:
    """`ms` before each call. `share` is what is left of a call's time when all its launches are enqueued before it, the
    smallest of all sides; 1 where HOLD_MS is long enough anyway.
    """

    ms: float = HOLD_MS
    share: float = 1.0


def choose_hold(play: Callable[[float], dict[str, Call]], warm: list[dict[str, Call]]) -> Hold:
    """The hold for a run. `play` plays a round behind a hold of so many milliseconds and tells each side's call; `warm`
    are rounds that were played behind HOLD_MS.
    """
    sides = warm[0]
    needed = HOLD_FACTOR * max(median_of([calls[side].enqueue_ms for calls in warm]) for side in sides)
    if needed <= HOLD_MS:
        return Hold()
    longer = min(needed, LONGEST_HOLD_MS)
    usual, held = list(warm), []
    for _ in range(HOLD_ROUNDS):
        usual.append(play(HOLD_MS))
        held.append(play(longer))
    share = min(
        median_of([calls[side].stream_ms for calls in held])
        / max(min(calls[side].stream_ms for calls in usual), _LEAST_MS)
        for side in sides
    )
    return Hold(longer if share >= LAUNCH_BOUND_SHARE else HOLD_MS, share)
