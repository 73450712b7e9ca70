"""Figures of merit: gains, percentiles."""

import math

import pytest

from eval.percentiles import percentile
from eval.quality.metrics import ndcg


def test_the_ideal_order_scores_one_and_a_worse_one_less() -> None:
    grades = {"a": 3.0, "b": 1.0, "c": 0.5}
    assert ndcg(["a", "b", "c"], grades) == pytest.approx(1.0)
    assert 0 < ndcg(["c", "b", "a"], grades) < 1


def test_the_gain_is_two_to_the_grade_less_one_discounted_by_the_place() -> None:
    found = ndcg(["x", "a"], {"a": 2.0, "b": 3.0})
    assert found == pytest.approx((3 / math.log2(3)) / (7 + 3 / math.log2(3)))


def test_only_the_first_ten_count_and_nothing_graded_gives_zero() -> None:
    assert ndcg([*(f"x{n}" for n in range(10)), "a"], {"a": 3.0}) == 0.0
    assert ndcg(["a"], {}) == 0.0


def test_a_percentile_is_one_of_the_values() -> None:
    values = [5.0, 1.0, 4.0, 2.0, 3.0]
    assert [percentile(values, share) for share in (0.0, 0.5, 0.95, 1.0)] == [1.0, 3.0, 5.0, 5.0]
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)
