"""The hold before a timed call: launches never count by chance, and always where they are what takes the time."""

import pytest

from app.verification.hold import Call, Hold, choose_hold
from app.verification.protocol import HOLD_MS, LONGEST_HOLD_MS

Round = dict[str, Call]


class Device:
    """Works for so long per side; each side's host enqueues for so long, times the slowness of each round in turn."""

    def __init__(self, work: dict[str, float], enqueue: dict[str, float], slowness: tuple[float, ...] = (1.0,)) -> None:
        self.work, self.enqueue, self.slowness = work, enqueue, slowness
        self.holds: list[float] = []

    def play(self, hold_ms: float) -> Round:
        slow = self.slowness[len(self.holds) % len(self.slowness)]
        self.holds.append(hold_ms)
        return {side: self._call(self.work[side], slow * self.enqueue[side], hold_ms) for side in self.work}

    def chosen(self) -> Hold:
        warm = [self.play(HOLD_MS) for _ in range(3)]
        return choose_hold(self.play, warm)

    @staticmethod
    def _call(work: float, enqueue: float, hold_ms: float) -> Call:
        return Call(max(work, enqueue - hold_ms), enqueue)


def test_calls_that_are_enqueued_in_time_are_held_as_ever_and_cost_no_round() -> None:
    device = Device({"eager": 8.0, "candidate": 2.0}, {"eager": 0.3, "candidate": 0.1})
    assert device.chosen() == Hold(HOLD_MS, 1.0)
    assert len(device.holds) == 3


@pytest.mark.parametrize("slowness", [(1.0,), (1.5,), (1.0, 1.0, 1.6, 1.6, 1.6)])
def test_a_call_that_enqueues_nearly_as_long_as_it_works_is_held_until_its_launches_are_enqueued(
    slowness: tuple[float, ...],
) -> None:
    device = Device({"eager": 2.07, "candidate": 2.33}, {"eager": 2.0, "candidate": 3.1}, slowness)
    hold = device.chosen()
    assert hold.ms >= 3.1 * 1.7 - 2.33
    assert 0.6 <= hold.share <= 1.0


@pytest.mark.parametrize("bound", ["eager", "candidate"])
def test_a_run_of_which_one_side_waits_for_launches_keeps_the_usual_hold_and_says_so(bound: str) -> None:
    device = Device({"eager": 3.0, "candidate": 3.0}, {"eager": 0.2, "candidate": 0.2} | {bound: 12.0})
    hold = device.chosen()
    assert hold.ms == HOLD_MS
    assert hold.share == pytest.approx(3.0 / 11.0)


def test_no_answer_of_a_candidate_holds_the_device_for_longer_than_the_longest_hold() -> None:
    device = Device({"eager": 3.0, "candidate": 3.0}, {"eager": 0.2, "candidate": 1e29})
    device.chosen()
    assert max(device.holds) == LONGEST_HOLD_MS


def test_a_candidate_that_claims_to_take_no_time_is_left_to_the_outside_clock() -> None:
    calls = {"eager": Call(3.0, 5.0), "candidate": Call(0.0, 5.0)}
    assert choose_hold(lambda hold_ms: calls, [calls] * 3) == Hold(HOLD_MS, 0.0)
