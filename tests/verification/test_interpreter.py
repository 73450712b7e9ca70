"""Honest kernels on the CPU: what the interpreter or torch lacks there is filled in, and is no fault of theirs."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from app.verification import CPU_LIMITS, Candidate, Job, RunRecord, read_candidate, read_problem, verify, verify_many
from app.verification.interpreter import LoopIndex, loop_range
from app.verification.interpreter_calls import shim_calls
from app.vocabulary import Verdict
from tests.verification.conftest import GALLERY, problem_named

pytestmark = pytest.mark.timeout(180)
GOOD = read_candidate(GALLERY / "good_scaled_gelu.py").raw.decode()
FORWARD = "    def forward(self, x, residual):\n"
HEAD = "import torch, triton\nimport torch.nn as nn\nimport triton.language as tl\n"
WITHOUT_EFFECT = """with torch.cuda.device(x.device):
            torch.cuda.synchronize()
        torch.cuda.synchronize(x.device)
        torch.cuda.set_device(x.device)
        torch.cuda.current_device()
        assert list(reversed(range(3))) == [2, 1, 0] and len(range(4)) == 4"""
CUDA_ONLY = """operators = torch.library.Library("own", "DEF")
        operators.define("doubled(Tensor x) -> Tensor")
        operators.impl("doubled", lambda x: x * 2, "CUDA")
        torch.ops.own.doubled(x)"""
IN_NEED_OF_A_GPU = {
    "a device by name": "torch.zeros(1, device='cuda')",
    "a stream": "torch.cuda.Stream()",
    "an operator for CUDA only": CUDA_ONLY,
    "an assertion of several lines": "assert (\n            x.is_cuda\n        ), 'bad device'",
    "an assertion with a reason": "assert x.is_cuda, 'x must be on the GPU'",
    "a refusal": "if not x.is_cuda:\n            raise ValueError('inputs must be CUDA tensors')",
}
LIBDEVICE = {
    "acos(x)": "torch.acos(x)", "acosh(1.0 + x)": "torch.acosh(1 + x)", "asin(x)": "torch.asin(x)",
    "asinh(x)": "torch.asinh(x)", "atan(x)": "torch.atan(x)", "atan2(x, y)": "torch.atan2(x, y)",
    "atanh(x * 0.5)": "torch.atanh(x * 0.5)", "ceil(x)": "torch.ceil(x)", "copysign(x, -1.0)": "-x",
    "erfc(x)": "torch.erfc(x)", "exp10(x)": "10.0**x", "fast_expf(x)": "torch.exp(x)",
    "fdim(x, y)": "torch.relu(x - y)",
    "fma(x, y, 2.0)": "x * y + 2", "fmod(-y, x)": "torch.fmod(-y, x)", "hypot(x, y)": "torch.hypot(x, y)",
    "ldexp(x, 3)": "x * 8", "lgamma(x)": "torch.lgamma(x)", "log(x - x)": "torch.log(x - x)",
    "log10(x)": "torch.log10(x)",
    "normcdf(x)": "torch.special.ndtr(x)", "pow(x, 2.5)": "x**2.5", "pow(x, 2)": "x**2", "pow(2.0, x)": "2.0**x",
    "rint(x * 3.0)": "torch.round(x * 3)", "round(x - x - 2.5)": "x - x - 3", "rsqrt(x)": "torch.rsqrt(x)",
    "rsqrt(x - x)": "torch.rsqrt(x - x)", "saturatef(x * 2.0)": "torch.clamp(x * 2, 0, 1)", "tan(x)": "torch.tan(x)",
    "trunc(x * -3.0)": "torch.trunc(x * -3)", "isnan(x / 0.0 - x / 0.0).to(tl.float32)": "torch.ones_like(x)",
    "isinf(x).to(tl.float32)": "torch.zeros_like(x)",
}  # fmt: skip
LOOPS = (
    ("range(0, 4)", "(k * 16).to(tl.int64)"),
    ("range(0, 4)", "((1 + k - 1) * 16).to(tl.int64)"),
    ("tl.range(0, 4)", "(k * 16).to(tl.int64)"),
    ("tl.range(0, 64, step=16, num_stages=2)", "k.to(tl.int64)"),
)

PLUS_ONE = (
    "import torch\nimport torch.nn as nn\n"
    "class Model(nn.Module):\n    def forward(self, x):\n        return (x + 1).expand({rows}, 64).contiguous()\n"
    "def get_inputs():\n    return [torch.rand(64)]\ndef get_init_inputs():\n    return []\n"
)
FACTORY = """
@triton.jit
def plus_one(v):
    return v + 1.0

@triton.jit
def minus_one(v):
    return v - 1.0

def device_function(change, logarithm):
    @triton.jit
    def changed(v):
        return logarithm(tl.exp(change(v)))
    return changed

def make(change, width, logarithm=tl.log):
    WIDTH = tl.constexpr(width)
    inner = device_function(change, logarithm)
    @triton.jit
    def kernel(x, out, SHIFT: tl.constexpr = width - 1):
        place = tl.program_id(0) * WIDTH + tl.arange(0, SHIFT + 1)
        tl.store(out + place, inner(tl.load(x + place)))
    return kernel

rising, falling, narrow = make(plus_one, 64), make(minus_one, 64), make(plus_one, 16)
"""
SPELLINGS = """
import triton.language as T
from triton.language import constexpr as Fixed

@triton.jit
def by_alias(x, out, N: T.constexpr):
    place = T.arange(0, N)
    T.store(out + place, T.load(x + place) + 1.0)

@triton.jit
def by_another_name(x, out, N: Fixed):
    place = tl.arange(0, N)
    tl.store(out + place, tl.load(x + place) + 1.0)

@triton.jit
def by_full_name(x, out, N: triton.language.constexpr):
    place = tl.arange(0, N)
    tl.store(out + place, tl.load(x + place) + 1.0)
"""
BY_FULL_NAME = SPELLINGS[SPELLINGS.rindex("@") :]
NAMES = """
from triton.language import arange, associative_scan, load, max_contiguous, reduce, static_range
from triton.language.math import log
exp, highest = tl.exp, tl.maximum

@triton.jit
def larger(a, b):
    return highest(a, b)

@triton.jit
def add_one(v):
    return log(exp(v)) + 1.0

@triton.jit
def by_name(x, out):
    for k in static_range(0, 4):
        place = max_contiguous(k * 16 + arange(0, 16), 16)
        v = load(x + place)
        few = arange(0, 4).to(tl.float32)
        same = reduce(few, 0, larger) - tl.max(associative_scan(few, 0, larger), 0)
        tl.store(out + place, add_one(v) + same)
"""
VALUES = """
import math

@triton.jit
def add(x, out, one, n, N: tl.constexpr):
    place = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + place, tl.load(x + place, mask=place < n) + one.to(tl.float32), mask=place < n)
"""


def plus_one_in_rows(folder: Path, functions: str, launches: list[str], head: str = HEAD) -> RunRecord:
    """Verify a candidate whose launches each write x + 1 into a row `out` of the output."""
    problem = folder / "problem.py"
    problem.write_text(PLUS_ONE.format(rows=len(launches)))
    calls = "".join(f"        out = rows[{row}]\n        {launch}\n" for row, launch in enumerate(launches))
    source = (
        f"{head}{functions}class ModelNew(nn.Module):\n    def forward(self, x):\n"
        f"        rows = torch.empty({len(launches)}, 64)\n{calls}        return rows\n"
    )
    return verify(read_problem(problem), Candidate(source.encode()), "cpu", CPU_LIMITS)


def beginning_with(statement: str) -> Candidate:
    """The gallery's good kernel, whose forward begins with a statement."""
    return Candidate(GOOD.replace(FORWARD, f"{FORWARD}        {statement}\n").encode(), statement)


def judged(candidates: dict[str, Candidate]) -> dict[str, RunRecord]:
    jobs = [Job(problem_named("scaled_gelu_residual"), candidate) for candidate in candidates.values()]
    return dict(zip(candidates, verify_many(jobs, "cpu", CPU_LIMITS, workers=2), strict=True))


def test_calls_that_select_a_device_or_wait_for_it_do_nothing_on_the_cpu_and_are_listed_as_shims() -> None:
    record = verify(problem_named("scaled_gelu_residual"), beginning_with(WITHOUT_EFFECT), "cpu", CPU_LIMITS)
    assert (record.verdict, record.detail) == (Verdict.VERIFIED, "")
    listed = record.evidence["shims"]
    assert {"torch.cuda.device", "torch.cuda.synchronize", "torch.cuda.current_device"} <= set(listed)


def test_a_candidate_that_cannot_do_without_a_gpu_is_not_blamed_on_the_cpu() -> None:
    records = judged({name: beginning_with(statement) for name, statement in IN_NEED_OF_A_GPU.items()})
    found = {name: record.verdict for name, record in records.items()}
    assert found == dict.fromkeys(IN_NEED_OF_A_GPU, Verdict.INFRA_ERROR)
    assert "this candidate needs a GPU" in records["a device by name"].detail


def test_a_replaced_shim_is_tampering() -> None:
    replaced = "torch.cuda.synchronize = max\n"
    record = verify(problem_named("scaled_gelu_residual"), Candidate((GOOD + replaced).encode()), "cpu", CPU_LIMITS)
    assert record.verdict is Verdict.STATIC_REJECTED
    hidden = "setattr(torch.cuda, 'synchronize', max)\n"
    record = verify(problem_named("scaled_gelu_residual"), Candidate((GOOD + hidden).encode()), "cpu", CPU_LIMITS)
    assert record.verdict is Verdict.SUSPICIOUS


def test_functions_of_libdevice_are_those_of_torch(tmp_path: Path) -> None:
    rows = ", ".join(LIBDEVICE.values())
    problem = tmp_path / "problem.py"
    problem.write_text(
        "import torch\nimport torch.nn as nn\n"
        f"class Model(nn.Module):\n    def forward(self, x, y):\n        return torch.stack([{rows}])\n"
        "def get_inputs():\n    return [torch.rand(16) * 0.8 + 0.1, torch.rand(16) + 0.1]\n"
        "def get_init_inputs():\n    return []\n"
    )
    stores = "".join(
        f"    tl.store(out + {16 * row} + place, libdevice.{call})\n" for row, call in enumerate(LIBDEVICE)
    )
    source = (
        f"{HEAD}from triton.language.extra import libdevice\n@triton.jit\ndef all_of_them(a, b, out):\n"
        f"    place = tl.arange(0, 16)\n    x = tl.load(a + place)\n    y = tl.load(b + place)\n{stores}"
        "class ModelNew(nn.Module):\n    def forward(self, x, y):\n"
        f"        out = torch.empty({len(LIBDEVICE)}, 16)\n        all_of_them[(1,)](x, y, out)\n        return out\n"
    )
    record = verify(read_problem(problem), Candidate(source.encode()), "cpu", CPU_LIMITS)
    assert record.verdict is Verdict.VERIFIED, record.detail


def test_a_loop_variable_can_be_cast_after_arithmetic_and_in_loops_over_tl_range(tmp_path: Path) -> None:
    kernels = "".join(
        f"@triton.jit\ndef add_one_{row}(x, out):\n    for k in {loop}:\n"
        f"        place = {begin} + tl.arange(0, 16)\n        tl.store(out + place, tl.load(x + place) + 1.0)\n"
        for row, (loop, begin) in enumerate(LOOPS)
    )
    launches = [f"add_one_{row}[(1,)](x, out)" for row in range(len(LOOPS))]
    record = plus_one_in_rows(tmp_path, kernels, launches)
    assert (record.verdict, record.detail) == (Verdict.VERIFIED, "")


def test_arithmetic_of_a_loop_variable_gives_a_loop_variable_where_it_gives_an_integer() -> None:
    index = LoopIndex(7)
    results = [
        index + 1,
        1 + index,
        index - 1,
        10 - index,
        index * 2,
        2 * index,
        index // 2,
        index % 4,
        -index,
        index & 3,
    ]
    assert results == [8, 8, 6, 3, 14, 14, 3, 3, -7, 3]
    assert {type(result) for result in results} == {LoopIndex}
    assert (type(index / 2), index / 2) == (float, 3.5)


def test_outside_kernels_a_loop_has_plain_integers() -> None:
    assert type(loop_range(1, 5, 2)) is range
    assert list(loop_range(1, 5, 2)) == [1, 3]


def test_what_a_kernel_captures_from_its_factory_is_there_and_is_its_own(tmp_path: Path) -> None:
    launches = ["rising[(1,)](x, out)", "falling[(1,)](x + 2, out)", "narrow[(4,)](x, out)", "rising[(1,)](x, out)"]
    record = plus_one_in_rows(tmp_path, FACTORY, launches)
    assert (record.verdict, record.detail) == (Verdict.VERIFIED, "")


def test_a_constexpr_is_known_by_any_name_of_it(tmp_path: Path) -> None:
    launches = [f"{name}[(1,)](x, out, 64)" for name in ("by_alias", "by_another_name", "by_full_name")]
    record = plus_one_in_rows(tmp_path, SPELLINGS, launches)
    assert (record.verdict, record.detail) == (Verdict.VERIFIED, "")


def test_a_constexpr_is_known_in_annotations_that_are_not_evaluated(tmp_path: Path) -> None:
    head = f"from __future__ import annotations\n{HEAD}"
    record = plus_one_in_rows(tmp_path, BY_FULL_NAME, ["by_full_name[(1,)](x, out, N=64)"], head)
    assert (record.verdict, record.detail) == (Verdict.VERIFIED, "")


def test_builtins_can_be_called_by_names_of_the_candidates_module(tmp_path: Path) -> None:
    record = plus_one_in_rows(tmp_path, NAMES, ["by_name[(1,)](x, out)"] * 2)
    assert (record.verdict, record.detail) == (Verdict.VERIFIED, "")


def test_floats_are_scalars_and_grids_may_be_lists_and_are_computed_from_plain_numbers(tmp_path: Path) -> None:
    record = plus_one_in_rows(
        tmp_path,
        VALUES,
        [
            "add[(4,)](x, out, 1.0, 64, N=16)",
            "add[[4]](x, out, 1.0, 64, N=16)",
            "add[lambda meta: [math.ceil(meta['n'] / meta['N'] * meta['one'])]](x, out, 1.0, 64, N=16)",
        ],
    )
    assert (record.verdict, record.detail) == (Verdict.VERIFIED, "")
    shims = {"FunctionRewriter._compile_and_exec", "GridExecutor.__init__", "_patch_lang", "_implicit_cvt"}
    assert {f"triton.runtime.interpreter.{name}" for name in shims} <= set(record.evidence["shims"])


def test_a_gap_stays_where_this_triton_has_not_the_place_to_fill_it() -> None:
    assert shim_calls(SimpleNamespace(), SimpleNamespace()) == []
