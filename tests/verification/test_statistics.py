import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.verification.statistics import less_measuring, ratio_of

TIMES = st.floats(0.01, 100.0)
PAIRS = st.lists(st.tuples(TIMES, TIMES), min_size=5, max_size=40)


@given(PAIRS)
def test_the_bounds_enclose_the_median(pairs: list[tuple[float, float]]) -> None:
    ratio = ratio_of([a for a, _ in pairs], [b for _, b in pairs])
    assert ratio.lo95 <= ratio.median * (1 + 1e-12)
    assert ratio.median <= ratio.hi95 * (1 + 1e-12)


def test_the_same_rounds_give_the_same_bounds() -> None:
    eager, candidate = [2.0, 2.1, 1.9, 2.2, 2.0], [1.0, 1.1, 1.0, 0.9, 1.0]
    assert ratio_of(eager, candidate) == ratio_of(eager, candidate)


def test_one_outlier_moves_neither_median_nor_bound_far() -> None:
    ratio = ratio_of([2.0] * 40, [1.0] * 39 + [100.0])
    assert ratio.median == pytest.approx(2.0)
    assert ratio.lo95 == pytest.approx(2.0)
    assert ratio.mean < 2.0


def test_noise_widens_the_bounds() -> None:
    calm, noisy = ratio_of([2.0, 2.02] * 15, [1.0] * 30), ratio_of([1.5, 2.5] * 15, [1.0] * 30)
    assert noisy.hi95 - noisy.lo95 > calm.hi95 - calm.lo95


def test_no_rounds_are_no_ratio() -> None:
    with pytest.raises(ValueError, match="no rounds"):
        ratio_of([], [])


def test_the_jitter_of_measuring_is_no_part_of_a_kernels_time() -> None:
    assert less_measuring([0.16, 0.15, 0.17], [0.02, 0.03, 0.9], 0.045) == [0.16, 0.15, 0.17]


def test_work_left_on_another_stream_counts_beyond_what_measuring_explains() -> None:
    assert less_measuring([0.1, 0.1, 0.1], [2.0, 2.1, 0.01], 0.03) == pytest.approx([2.07, 2.17, 0.1])


def test_several_pairs_of_processes_give_the_mean_of_their_medians() -> None:
    ratio = ratio_of([1.2] * 20 + [1.3] * 20 + [1.4] * 20, [1.0] * 60, [20, 20, 20])
    assert ratio.median == pytest.approx((1.2 * 1.3 * 1.4) ** (1 / 3))


def test_pairs_that_disagree_widen_the_bounds_however_calm_each_of_them_is() -> None:
    eager, candidate = [1.2] * 20 + [1.3] * 20 + [1.4] * 20, [1.0] * 60
    pairs = ratio_of(eager, candidate, [20, 20, 20])
    assert pairs.lo95 < 1.25
    assert pairs.hi95 > 1.35
    assert ratio_of(eager, candidate).lo95 == pytest.approx(1.3)


def test_one_pair_is_what_no_pairs_are() -> None:
    eager, candidate = [2.0, 2.1, 1.9, 2.2, 2.0], [1.0, 1.1, 1.0, 0.9, 1.0]
    assert ratio_of(eager, candidate, [5]) == ratio_of(eager, candidate)


@pytest.mark.parametrize("counts", [[2, 2], [5, 0], [6], [-1, 6]])
def test_counts_that_are_not_those_of_the_rounds_are_refused(counts: list[int]) -> None:
    with pytest.raises(ValueError, match="rounds"):
        ratio_of([1.0] * 5, [1.0] * 5, counts)
