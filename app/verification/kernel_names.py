"""Which of the profiled kernels are the candidate's own, by name. No torch needed."""

import re

OPAQUE_EXTENSION = "extension with registered operators"
"""Stands among the counted launches for an extension whose calls cannot be seen."""

EXTENSION_WORD = "extension"
_LIBRARIES = ("at::", "c10::", "cub::", "thrust::", "cutlass::", "cudnn::", "cublas", "cuda::")
_HEAD_END = re.compile(r"[<(]")


def own_time(kernels: dict[str, float], declared: list[str], launches: dict[str, int]) -> float:
    """Microseconds spent in kernels of the candidate. `launches` are those counted while it ran untimed."""
    return float(sum(time for name, time in kernels.items() if is_own(name, declared, launches)))


def is_own(name: str, declared: list[str], launches: dict[str, int]) -> bool:
    """Whether a profiled kernel is a declared one that was seen to be launched.

    Triton shows the bare name, and Triton must have launched a kernel of that name. CUDA C++ shows a demangled
    signature or a plain name, and a function of some extension must have been called. A declaration alone proves
    nothing: its name may be that of a library's kernel.
    """
    if name in declared and name in launches:
        return True
    plain = name.replace("(anonymous namespace)::", "").removeprefix("void ")
    qualified = _HEAD_END.split(plain)[0].strip()
    if qualified.startswith(_LIBRARIES):
        return False
    has_extension = any(launched.startswith(EXTENSION_WORD) for launched in launches)
    return has_extension and qualified.split("::")[-1] in declared
