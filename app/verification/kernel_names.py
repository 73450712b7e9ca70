"""Which of the profiled kernels are the candidate's own, by name. No torch needed."""

import re
from fnmatch import fnmatchcase

OPAQUE_EXTENSION = "extension with registered operators"
"""Stands among the counted launches for an extension whose calls cannot be seen."""

EXTENSION_WORD = "extension"
_LIBRARIES = ("at::", "c10::", "cub::", "thrust::", "cutlass::", "cudnn::", "cublas", "cuda::")
_LIBRARY_WORDS = re.compile(
    r"\bat::|cub::|thrust::|cutlass|cudnn|cublas|cusparse|cusolver|cufft|cask|xmma|nvjet|PyTorchMemEff|pytorch_flash|"
    r"nccl|magma_|triton_|fmha_|[sdchzi]\d*gemm_|sgemm|gemm(?:[A-Zk]|_?[SNT]{2}_)|gemv(?:\d|N|x|_)|trsm|splitK|"
    r"(?:volta|turing|ampere|hopper|blackwell|maxwell|pascal|kepler|sm\d+)_|implicit_convolve|convolve_|winograd|"
    r"[dw]grad\w*_(?:alg|engine)|(?:regular|vector|composite)_\w*fft|fft\dd_|nchwToNhwc|nhwcToNchw|cunn_|softmax_warp_|"
    r"Memcpy|Memset|(?:vectorized|unrolled|legacy)_elementwise|reduce_1Block|\bdot_kernel|\bscal_kernel|"
    r"multi_tensor_apply|RNN_|LSTM_",
    re.IGNORECASE,
)
"""What the kernels of libraries are named by that have no namespace, and what their parameters are of."""

_IDENTIFIER = re.compile(r"\w+", re.ASCII)
_HEAD_END = re.compile(r"[<(]")


def own_time(kernels: dict[str, float], declared: list[str], launches: dict[str, int]) -> float:
    """Microseconds spent in kernels of the candidate. `launches` are those counted while it ran untimed."""
    return float(sum(time for name, time in kernels.items() if is_own(name, declared, launches)))


def is_own(name: str, declared: list[str], launches: dict[str, int]) -> bool:
    """Whether a profiled kernel is a declared one that was seen to be launched.

    Triton shows the bare name, and Triton must have launched a kernel of that name. CUDA C++ shows a demangled
    signature or a plain name, and a function of some extension must have been called. A declaration alone proves
    nothing: its name may be that of a library's kernel. So a declared pattern, in which `*` stands for any letters,
    digits and underscores, fits no kernel whose signature has a word of a library.
    """
    if name in declared and name in launches:
        return True
    plain = name.replace("(anonymous namespace)::", "").removeprefix("void ")
    qualified = _HEAD_END.split(plain)[0].strip()
    if qualified.startswith(_LIBRARIES):
        return False
    has_extension = any(launched.startswith(EXTENSION_WORD) for launched in launches)
    bare = qualified.split("::")[-1]
    return has_extension and (bare in declared or (_may_fit(name, bare) and _fits(bare, declared)))


def _may_fit(name: str, bare: str) -> bool:
    return _IDENTIFIER.fullmatch(bare) is not None and _LIBRARY_WORDS.search(name) is None


def _fits(bare: str, declared: list[str]) -> bool:
    return any("*" in pattern and fnmatchcase(bare, pattern) for pattern in declared)
