"""The sizing page says what the result files say, and marks what was not measured."""

import pytest

from eval import sizing


def test_the_page_is_the_one_that_the_result_files_give() -> None:
    assert sizing.PAGE.read_text(encoding="utf-8") == sizing.rendered(), "run python -m eval.sizing"


def test_a_line_goes_through_the_smallest_and_the_largest_point() -> None:
    assert sizing.slope([(10, 25.0), (5, 99.0), (1, 7.0)]) == pytest.approx((5.0, 2.0))


def test_figures_follow_the_results() -> None:
    search = [{"task": "code", "clients": 1, "p50_ms": 10.0, "queries_per_second": 50.0}]
    sizes = [
        {"items": 1000, "peak_memory_mb": 100, "start_seconds": 1.0, "searches": search},
        {"items": 2000, "peak_memory_mb": 200, "start_seconds": 2.0, "searches": search},
    ]
    storage = {
        "sqlite": [{"items": 0, "bytes": 0}, {"items": 10, "bytes": 10_000}],
        "vector_dimension": 384,
        "run_bytes": 2**30 // 3_650_000,
    }
    kernels = {
        "batches": [{"seconds": 72.0, "devices": ["cuda:0"], "judged": 10, "provenance": {"gpu": "NVIDIA H200"}}]
    }
    text = "\n".join(sizing.page({"sizes": sizes}, storage, kernels))
    assert "| 1,000,000 | 100,000 | 1,000 | extrapolated |" in text
    assert "| code | 10.0 | 10.0 | no growth seen |" in text
    assert "10,000 kernels take 20.0 GPU hours" in text
    assert "GPUs for a night of 8 hours: 3" in text
    assert "1 GiB of" in text
