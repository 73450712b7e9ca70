"""A kernel counts as the candidate's own when it was declared, launched, and is no kernel of a library."""

import pytest

from app.verification.kernel_names import OPAQUE_EXTENSION, is_own, own_time

CALLED = {"extension:compute": 1}
TORCH_REDUCE = "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float> >(at::native::ReduceOp<float>)"


@pytest.mark.parametrize(
    ("name", "launches", "own"),
    [
        ("mine", {"mine": 1}, True),
        ("mine", {}, False),
        ("mine", {"other": 1}, False),
        ("mine", CALLED, True),
        ("mine(float const*, float*, int)", CALLED, True),
        ("mine(float const*, float*, int)", {}, False),
        ("mine(float const*, float*, int)", {OPAQUE_EXTENSION: 1}, True),
        ("void mine<4, float>(float*)", CALLED, True),
        ("void (anonymous namespace)::mine<4>(float*)", CALLED, True),
        ("void space::mine(float*)", CALLED, True),
        ("void at::native::mine<4>(float*)", CALLED, False),
        ("void at::native::(anonymous namespace)::mine<4>(float*)", CALLED, False),
        ("Memcpy DtoD (Device -> Device)", CALLED, False),
    ],
)
def test_own_kernels_are_told_from_others(name: str, launches: dict[str, int], own: bool) -> None:
    assert is_own(name, ["mine"], launches) is own


def test_a_name_shared_with_a_library_counts_only_for_the_candidates_kernel() -> None:
    kernels = {"reduce_kernel": 10.0, TORCH_REDUCE: 5.0}
    assert own_time(kernels, ["reduce_kernel"], {"reduce_kernel": 1}) == 10.0


def test_declaring_a_library_kernels_name_is_not_launching_it() -> None:
    assert own_time({"ampere_sgemm_128x64_nn": 10.0}, ["ampere_sgemm_128x64_nn"], {}) == 0.0
