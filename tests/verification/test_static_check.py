"""Few rules reject, everything else informs; the syntax tree counts, not the text."""

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
        ("t\u043erch = 1" + CLASS, "non-ASCII source"),
        ("x = '\u202e'" + CLASS, "non-ASCII source"),
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
    ],
)
def test_honest_code_is_neither_rejected_nor_flagged(source: str) -> None:
    report = check_source(source.encode())
    assert (report.rejections, report.flags) == ([], [])


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
