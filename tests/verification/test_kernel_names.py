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


@pytest.mark.parametrize(
    ("name", "launches", "own"),
    [
        ("relu_256", CALLED, True),
        ("relu_256(float const*, int)", CALLED, True),
        ("void space::relu_256<4>(c10::Half const*)", CALLED, True),
        ("relu_", CALLED, True),
        ("relu_256(float const*, int)", {}, False),
        ("relu_256", {"relu_256": 1}, False),
        ("relu 256", CALLED, False),
        ("other_relu_256", CALLED, False),
        ("void at::native::relu_256(float*)", CALLED, False),
    ],
)
def test_a_star_stands_for_letters_digits_and_underscores(name: str, launches: dict[str, int], own: bool) -> None:
    assert is_own(name, ["relu_*"], launches) is own


@pytest.mark.parametrize(
    "name",
    [
        TORCH_REDUCE,
        "ampere_sgemm_128x64_nn",
        "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_kernel",
        "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT",
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(Params)",
        "void cublasLt::splitKreduce_kernel<32, 16, int, float>(cublasLt::Params)",
        "void dot_kernel<float, 128, 0, cublasDotParams<float> >(cublasDotParams<float>)",
        "void gemv2T_kernel_val<int, float, 128>(float)",
        "void gemmSN_TN_kernel<float, 128, 16>(float)",
        "void cudnn::ops::nchwToNhwcKernel<float, float>(cudnn::ops::Params)",
        "void (anonymous namespace)::softmax_warp_forward<float, float, float, 8>(float*, float const*, int)",
        "void pytorch_flash::flash_fwd_kernel<Traits>(Params)",
        "fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::Params)",
        "triton_poi_fused_add_0",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "implicit_convolve_sgemm",
        "Memcpy DtoD (Device -> Device)",
        "Memset (Device)",
    ],
)
def test_no_pattern_declares_a_librarys_kernel(name: str) -> None:
    patterns = [
        "*kernel*",
        "*_kernel",
        "*gemm*",
        "*_nn",
        "*Kernel",
        "*forward",
        "nvj*",
        "*fused*",
        "impl*",
        "Mem*",
        "***",
    ]
    assert not is_own(name, patterns, CALLED)
