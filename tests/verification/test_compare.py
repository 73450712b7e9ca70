"""Outputs agree or they do not: layouts, masks, values, and the fp64 yardstick."""

from typing import Any

import pytest
import torch

from app.verification.compare import compare_by_oracle, compare_values, is_degenerate, layout_mismatch

VALUES = torch.linspace(-2, 2, 101)


def layout(shape: list[int], stride: list[int], dtype: str = "float32", tree: Any = None) -> dict[str, Any]:
    return {"tree": tree or {"t": 0}, "specs": [{"shape": shape, "dtype": dtype, "stride": stride}]}


@pytest.mark.parametrize(
    ("given", "mismatch"),
    [
        (layout([4, 3], [3, 1]), ""),
        (layout([4, 3], [3, 1], tree={"l": [{"t": 0}]}), "structure"),
        (layout([1, 4, 3], [12, 3, 1]), "shape"),
        (layout([4, 3], [3, 1], "float16"), "dtype"),
        (layout([4, 3], [1, 4]), "structure"),
        (layout([4, 3], [0, 1]), "structure"),
    ],
)
def test_layouts_are_compared_first(given: dict[str, Any], mismatch: str) -> None:
    assert layout_mismatch(layout([4, 3], [3, 1]), given).mismatch == mismatch


def test_strides_of_dimensions_of_size_one_do_not_count() -> None:
    assert not layout_mismatch(layout([1, 3], [3, 1]), layout([1, 3], [77, 1])).mismatch


@pytest.mark.parametrize(
    ("change", "mismatch"),
    [
        (lambda x: x + 1e-6, ""),
        (lambda x: x * 1.001, "value"),
        (lambda x: x.half().float() * 1.0005, "value"),
        (lambda x: torch.where(x > 1.9, torch.nan, x), "nonfinite"),
        (lambda x: torch.where(x > 1.9, torch.inf, x), "nonfinite"),
    ],
)
def test_values_agree_within_the_tolerance_or_not(change: Any, mismatch: str) -> None:
    assert compare_values([VALUES], [change(VALUES)]).mismatch == mismatch


def test_equal_infinities_agree_and_opposite_ones_do_not() -> None:
    infinite = torch.tensor([1.0, float("inf"), float("-inf"), float("nan")])
    assert not compare_values([infinite], [infinite.clone()]).mismatch
    assert compare_values([infinite], [torch.tensor([1.0, float("-inf"), float("-inf"), float("nan")])]).mismatch


def test_a_difference_that_overflows_is_a_difference() -> None:
    huge = torch.tensor([3e38])
    assert compare_values([huge], [-huge]).mismatch == "value"


def test_whole_numbers_must_be_equal_also_before_the_oracle() -> None:
    want, have = torch.tensor([1, 2, 3]), torch.tensor([1, 2, 4])
    assert compare_values([want], [have]).mismatch == "value"
    assert compare_by_oracle([want], [want], [have]).mismatch == "value"
    assert not compare_by_oracle([want], [want], [want]).mismatch


def test_the_oracle_allows_what_eager_itself_errs_and_no_more() -> None:
    truth = VALUES.double()
    eager, as_good, worse = (truth + error for error in (1e-3, -1e-3, 1e-2))
    assert not compare_by_oracle([truth], [eager.float()], [as_good.float()]).mismatch
    assert compare_by_oracle([truth], [eager.float()], [worse.float()]).mismatch == "value"


def test_half_precision_has_its_own_tolerance() -> None:
    assert not compare_values([VALUES.half()], [(VALUES * 1.005).half()]).mismatch
    assert compare_values([VALUES.half()], [(VALUES * 1.05).half()]).mismatch == "value"


def test_outputs_that_a_constant_would_match_are_degenerate() -> None:
    assert is_degenerate([VALUES * 1e-6])
    assert is_degenerate([torch.full((50,), 3.0)])
    assert not is_degenerate([VALUES])
    assert not is_degenerate([VALUES * 1e-6, VALUES])
    assert not is_degenerate([torch.zeros(50, dtype=torch.int64)])
