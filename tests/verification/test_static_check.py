"""Few rules reject, everything else informs; the syntax tree counts, not the text."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.verification.protocol import MAX_SOURCE_BYTES
from app.verification.static_check import check_source

CLASS = "\nclass ModelNew:\n    pass\n"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("class Other:\n    pass\n", "no class ModelNew"),
        ("class Model:\n    pass\n" + CLASS, "a class named Model"),
        ("x = getattr(a, name)" + CLASS, "getattr with a computed name"),
        ("x = getattr(a, 'b' + 'c')" + CLASS, "getattr with a computed name"),
        ("x = getattr(a, '_b')" + CLASS, "getattr of the private name"),
        ("x = a._b" + CLASS, "the private attribute"),
        ("x = f.__globals__" + CLASS, "the private attribute"),
        ("a.b = 1" + CLASS, "assignment to the attribute"),
        ("a.b += 1" + CLASS, "assignment to the attribute"),
        ("for a.b in c:\n    pass" + CLASS, "assignment to the attribute"),
        ("with c as a.b:\n    pass" + CLASS, "assignment to the attribute"),
        ("del a.b" + CLASS, "assignment to the attribute"),
        ("(a.b, c) = 1, 2" + CLASS, "assignment to the attribute"),
        ("from os import _exit" + CLASS, "import of the private name"),
        ("import torch._C as c" + CLASS, "import of the private name torch._C"),
        ("from torch._C import x" + CLASS, "import of the private name torch._C"),
        ("t\u043erch = 1" + CLASS, "non-ASCII source"),
        ("x = '\u202e'" + CLASS, "non-ASCII source"),
        ("# coding: unicode_escape\n# \\nimport torch._C" + CLASS, "the encoding that the source declares"),
        ("# coding: no_such_encoding" + CLASS, "the encoding that the source declares"),
        ("x = self.__dict__" + CLASS, "the private attribute"),
        ("x = other.__own" + CLASS, "the private attribute"),
    ],
)
def test_a_rule_rejects(source: str, reason: str) -> None:
    assert any(reason in found for found in check_source(source.encode()).rejections)


@pytest.mark.parametrize(
    "source",
    [
        "class ModelNew:\n    def f(self):\n        self.x = 1\n        self._x = self._y\n",
        "class ModelNew(B):\n    def __init__(self):\n        super().__init__()\n",
        "# a._b = getattr(a, name); class Model: torch.cuda.Event\n'a._b = 1'\n" + CLASS,
        "# \u00b5s and \u00b7\n" + CLASS,
        "x = getattr(a, 'b')" + CLASS,
        "class ModelNew:\n    def f(self):\n        self.__x = self.__y\n",
        "\ufeffx = 1" + CLASS,
        "# -*- coding: utf-8 -*-\n# \u00b5s" + CLASS,
        "# coding: latin-1\nx = 1" + CLASS,
        "from __future__ import annotations" + CLASS,
    ],
)
def test_honest_code_is_neither_rejected_nor_flagged(source: str) -> None:
    report = check_source(source.encode())
    assert (report.rejections, report.flags) == ([], [])


@pytest.mark.parametrize(
    ("line", "asks"),
    [
        ("if not x.is_cuda:\n    pass", True),
        ("ok = torch.cuda.is_available()", True),
        ("if x.device.type == 'cuda':\n    pass", True),
        ("y = torch.empty(3, device=x.device)", False),
        ("y = 'cuda'", False),
    ],
)
def test_a_source_that_asks_for_a_gpu_is_known(line: str, asks: bool) -> None:
    assert check_source((line + CLASS).encode()).asks_for_gpu is asks


def test_findings_carry_their_line() -> None:
    report = check_source(b"import gc\n\nsetattr(a, 'b', 1)" + CLASS.encode())
    assert report.flags == ["call:setattr@3", "import:gc@1"]


def test_kernels_of_triton_and_cuda_are_named() -> None:
    source = '''
@triton.jit
def one(x): pass
@triton.autotune(configs=[], key=[])
@triton.jit
def two(x): pass
CODE = """// __global__ void commented()
__global__ void three(float* x) {}
template <int N> __global__ void __launch_bounds__(256) four(int n) {}
__device__ float helper() { return 1; }
"""
'''
    assert check_source((source + CLASS).encode()).kernels == ["one", "two", "three", "four"]


def kernels_of(source: str) -> list[str]:
    return check_source((source + CLASS).encode()).kernels


@pytest.mark.parametrize(
    "declaration",
    [
        "__global__ void k1(int n) {}",
        "template <typename T, int N>\n__global__ void\nk1(T* x) {}",
        'extern "C" __global__ void k1(int n) {}',
        "__global__ void __launch_bounds__(256, 2) k1(int n) {}",
        "__global__ __launch_bounds__(256) void k1(int n) {}",
        "__launch_bounds__(256) __global__ void k1(int n) {}",
        "__global__ void __launch_bounds__(WARPS * (32)) k1(int n) {}",
        "__global__ void __cluster_dims__(2, 1, 1) __maxnreg__(64) k1(int n) {}",
        "__global__ void BOUNDS(2) k1(int n) {}",
        "__global__ BOUNDS(2) void k1(int n) {}",
        "void __global__ k1(int n) {}",
        "static __global__ void k1(int n) {}",
        "__global__ static inline __forceinline__ void k1(int n) {}",
        "__global__ void [[maybe_unused]] k1(int n) {}",
        "__global__ auto k1(int n) -> void {}",
        "__global__ void k1(int n) noexcept {}",
        "__global__ void /* __global__ void no( */ k1(int n) { helper(n); } // __global__ void no(",
        "#define GLOBAL __global__\nGLOBAL void k1(int n) {}",
        "#define KERNEL(B) __global__ void __launch_bounds__(B)\nKERNEL(256) k1(int n) {}",
        "#define NAME k1\n__global__ void NAME(int n) {}",
        "#define DEF(NAME, OP) \\\n  __global__ void NAME##1(float x) { OP; }\nDEF(k, exp(x * (1 + x)))",
    ],
)
def test_the_word_before_the_parameters_is_the_kernels_name(declaration: str) -> None:
    assert kernels_of(f"SOURCE = {declaration!r}") == ["k1"]


@pytest.mark.parametrize(
    "text",
    [
        "A __global__ function has parameters (see there).",
        "__global__ void ",
        "__global__ void __launch_bounds__(256)",
        "__global__ int k1 = 1;",
        "__device__ void k1(int n) {}",
    ],
)
def test_what_declares_no_kernel_names_none(text: str) -> None:
    assert kernels_of(f"SOURCE = {text!r}") == []


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("B = 256\ns = f'__global__ void k_{B}(int n) {{}}'", ["k_256"]),
        ("s = f'__global__ void __launch_bounds__({b}) k1({t}* x) {{}}'", ["k1"]),
        ("s = '__global__ void ' + 'k1' + '(int n) {}'", ["k1"]),
        ("s = '__global__ void %s(int n) {}' % 'k1'", ["k1"]),
        ("s = '__global__ void %(n)s(int n) {}' % {'n': 'k1'}", ["k1"]),
        ("s = '__global__ void {n}{}(int n) {{}}'.format(1, n='k')", ["k1"]),
        ("s = '__global__ void @NAME@(int n) {}'.replace('@NAME@', 'k1')", ["k1"]),
        ("HEAD = '__global__ void '\nNAME = 'k1'\ns = HEAD + f'{NAME}(int n) {{}}'", ["k1"]),
        ("s = '\\n'.join(['__global__ void k1(int n) {}', other])", ["k1"]),
        ("s = b'__global__ void k1(int n) {}'.decode()", ["k1"]),
    ],
)
def test_strings_that_are_put_together_are_read_as_one(source: str, names: list[str]) -> None:
    assert kernels_of(source) == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("s = f'__global__ void relu_{b}(int n) {{}}'", ["relu_*"]),
        ("s = '__global__ void ' + name + '_kernel(int n) {}'", ["*_kernel"]),
        ("s = '__global__ void row_%s_%d(int n) {}' % (t, 4)", ["row_*_4"]),
        ("s = '__global__ void relu_{}(int n) {{}}'.format(b)", ["relu_*"]),
        ("s = '__global__ void relu_@N@(int n) {}'.replace('@N@', str(n))", ["relu_*"]),
        ("def f(name):\n    return f'__global__ void relu_{name}(int n)'\nname = 'k1'", ["relu_*"]),
        ("s = '#define DEF(NAME) __global__ void NAME##_kernel(int n) {}'", ["*_kernel"]),
        ("s = '#define DEF(NAME) __global__ void NAME##_k(int n) {}'", []),
        ("s = '#define DEF(NAME) __global__ void NAME##_k(int n) {}\\nDEF(gelu)'", ["gelu_k"]),
        ("s = f'__global__ void k_{b}(int n) {{}}'", []),
        ("s = f'__global__ void {name}(int n) {{}}'", []),
    ],
)
def test_an_unknown_part_of_a_name_is_a_star_where_three_letters_are_known(source: str, names: list[str]) -> None:
    assert kernels_of(source) == names


def test_a_text_that_is_not_joined_is_read_alone() -> None:
    kernel = "'__global__ void k1(int n) {}'"
    assert kernels_of(f"s = build({kernel}) + 'x'") == ["k1"]
    assert kernels_of(f"s = build().replace('BODY', {kernel})") == ["k1"]
    assert kernels_of(f"SOURCE = {kernel}\nuse(SOURCE)\nother = SOURCE.replace('k1', 'k2')") == ["k1", "k2"]


@pytest.mark.parametrize(
    "source",
    [
        "import triton\n@triton.jit\ndef k1(x): pass",
        "import triton as tr\n@tr.jit\ndef k1(x): pass",
        "import triton.language as tl\nimport triton\n@triton.jit\ndef k1(x): pass",
        "from triton import jit\n@jit\ndef k1(x): pass",
        "from triton import jit as tjit\n@tjit(debug=True)\ndef k1(x): pass",
        "from triton import autotune as tuned\n@tuned(configs=[], key=[])\n@other\ndef k1(x): pass",
        "from triton import *\n@jit\ndef k1(x): pass",
        "import triton\n@triton.runtime.jit\ndef k1(x): pass",
        "from triton.experimental import gluon\n@gluon.jit\ndef k1(x): pass",
        "import triton\nfast = triton.jit\n@fast\ndef k1(x): pass",
        "import triton\ndef k1(x): pass\nfast = triton.jit(k1)",
        "from triton import jit as tjit\ndef k1(x): pass\nfast = tjit(k1)",
    ],
)
def test_tritons_decorators_count_under_any_name(source: str) -> None:
    assert kernels_of(source) == ["k1"]


@pytest.mark.parametrize(
    "source",
    [
        "import torch\n@torch.jit.script\ndef k1(x): pass",
        "import numba\n@numba.jit\ndef k1(x): pass",
        "from numba import jit\n@jit\ndef k1(x): pass",
        "from numba import cuda as triton\n@triton.jit\ndef k1(x): pass",
        "@jit\ndef k1(x): pass",
    ],
)
def test_a_decorator_from_elsewhere_declares_no_kernel(source: str) -> None:
    assert kernels_of(source) == []


@pytest.mark.parametrize(
    "source",
    [
        repr("__global__ " * 90_000),
        repr("__global__ void k" + "(" * 1_000_000),
        repr("__global__ void __launch_bounds__(" * 29_000),
        repr("__global__ " + "/*" * 500_000),
        repr("__global__ " + '\\"' * 500_000),
        repr("#define A(x) __global__ void x##_k(int n)\n" + "A(" * 400_000),
        repr("#define A(x) A(x) A(x) __global__ void x##_k(int n)\n" + "A(b) " * 50_000),
        repr("__global__ %" + "0" * 1_000_000) + " % x",
        repr("a" * 1_000_000) + f".replace('a', {'b' * 500_000!r})",
        "'__global__ void k('\n" + "".join(f"s{i + 1} = s{i} + s{i}\n" for i in range(100)),
    ],
    ids=range(10),
)
def test_no_text_keeps_the_reader_busy(source: str) -> None:
    start = time.process_time()
    check_source(f"s0 = {source}{CLASS}".encode())
    assert time.process_time() - start < 2


def test_sources_that_cannot_be_read_are_told_apart() -> None:
    assert "not UTF-8" in check_source("class ModelNew: pass".encode("utf-16")).rejections[0]
    assert "SyntaxError" in check_source(b"class ModelNew(").unreadable
    assert check_source(b"").rejections == ["no class ModelNew"]
    assert check_source(b"#" * (MAX_SOURCE_BYTES + 1)).rejections
    assert check_source(b"x = " + b"(" * 5000).unreadable
    assert check_source(b"a\0b").unreadable


def test_many_threads_may_read_sources_at_once() -> None:
    deep = ("x = " + "(" * 60 + "1" + ")" * 60 + "\n") * 500 + CLASS
    with ThreadPoolExecutor(8) as pool:
        reports = list(pool.map(check_source, [deep.encode()] * 24))
    assert {report.unreadable for report in reports} == {""}


def test_cuda_whose_kernels_cannot_be_named_is_cuda_all_the_same() -> None:
    source = 'NAME = input()\nCODE = f"__global__ void {NAME}(int n) {{}}"\nclass ModelNew: pass\n'
    report = check_source(source.encode())
    assert (report.kernels, report.language) == ([], "cuda")
