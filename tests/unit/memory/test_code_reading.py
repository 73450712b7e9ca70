"""Code is read by its syntax tree alone, with limits, and says what it is sure of."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.memory.task import read_task
from app.memory.task.modules import MAX_SOURCE_BYTES


def chain(source: str) -> tuple[str, ...]:
    return read_task(None, source).chain


def model(forward: str, init: str = "") -> str:
    lines = "\n".join("        " + line for line in ["super().__init__()", *init.splitlines()])
    body = "\n".join("        " + line for line in forward.splitlines())
    return (
        "import torch, math\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
        f"class Model(nn.Module):\n    def __init__(self):\n{lines}\n    def forward(self, x):\n{body}\n"
        "def get_inputs():\n    return [torch.rand(64, 128)]\ndef get_init_inputs():\n    return []\n"
    )


def test_operations_come_in_order_of_execution_with_shapes(module: str) -> None:
    profile = read_task(None, module)
    assert profile.chain == ("conv_transpose3d", "batch_norm", "avg_pool3d")
    assert profile.family == "conv_transpose"
    assert profile.dominant == "conv_transpose3d"
    assert profile.shapes == ((64, 3, 32, 32, 32),)
    assert profile.stride == (2, 2, 2)
    assert profile.regimes["strided"] and not profile.regimes["stride_1"]
    assert profile.norm_mode == "train"
    assert profile.confidence > 0.9


@pytest.mark.parametrize(
    ("forward", "expected"),
    [
        ("return x * torch.sigmoid(x)", "swish"),
        ("return x * torch.tanh(F.softplus(x))", "mish"),
        ("return x * torch.clamp((x + 3) / 6, 0, 1)", "hardswish"),
        ("return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3))))", "gelu_tanh"),
        ("return x / torch.sqrt(torch.mean(x ** 2, dim=1, keepdim=True) + 1e-5)", "rms_norm"),
        ("return x / torch.norm(x, p='fro')", "frobenius_norm"),
        ("return x / torch.norm(x, p=2, dim=1, keepdim=True)", "l2_norm"),
        ("return x / torch.sum(torch.abs(x), dim=1, keepdim=True)", "l1_norm"),
        ("return x / (1 + torch.abs(x))", "softsign"),
        ("return x - x.mean(dim=1, keepdim=True)", "mean_subtract"),
        ("return torch.cumsum(x.flip(1), dim=1).flip(1)", "reverse_cumsum"),
        ("return torch.mean((x - x * 2) ** 2)", "mse_loss"),
    ],
)
def test_operations_spelled_out_in_steps_are_recognised(forward: str, expected: str) -> None:
    assert expected in chain(model(forward))


def test_attention_written_by_hand_is_recognised_with_its_mask() -> None:
    forward = (
        "q = x.view(8, 8, 2, 64).transpose(1, 2)\n"
        "s = (q @ q.transpose(-2, -1)) * 0.125\n"
        "s = s.masked_fill(torch.ones(8, 8).triu(1) == 1, float('-inf'))\n"
        "return F.softmax(s, dim=-1) @ q"
    )
    assert "causal_attention" in chain(model(forward))


def test_work_that_never_reaches_the_result_is_left_out() -> None:
    profile = read_task(
        None, model("y = torch.relu(x)\nz = torch.tanh(x)\nw = torch.sigmoid(y)\nreturn torch.sigmoid(y)")
    )
    assert profile.chain == ("relu", "sigmoid")
    assert profile.regimes["dead_outputs"]


def test_a_linear_reduction_after_a_product_is_told_from_a_nonlinear_one() -> None:
    linear = read_task(None, model("return self.fc(x).sum(dim=1)", "self.fc = nn.Linear(128, 256)"))
    bent = read_task(None, model("return torch.sigmoid(self.fc(x)).sum(dim=1)", "self.fc = nn.Linear(128, 256)"))
    assert linear.regimes["linear_reduction"] and not linear.regimes["nonlinear_before_reduction"]
    assert bent.regimes["nonlinear_before_reduction"] and not bent.regimes["linear_reduction"]


def test_code_is_never_executed(tmp_path: Path) -> None:
    target = tmp_path / "touched"
    before = set(sys.modules)
    source = f"import os, antigravity_of_tests\nopen({str(target)!r}, 'w').write('x')\nos.system('touch {target}')\n"
    read_task(None, source + model("__import__('os').abort()\nreturn torch.relu(x)"))
    assert not target.exists()
    assert "antigravity_of_tests" not in set(sys.modules) - before


@pytest.mark.parametrize(
    "source",
    [
        "def forward(x:\n  return",
        "#include <cuda.h>\n__global__ void k(float* x) { x[0] = 1; }",
        "\x00\x00import torch",
        "x = '\ud800'",
        "(" * 5000,
        "-" * 20000 + "1",
        "x = " + "[" * 200 + "]" * 200,
        "lambda: " * 3000 + "1",
        "while True:\n    pass",
        "class Model:\n    def forward(self, x):\n        return self.forward(x)",
        "def f(x):\n    return f(f(x))\n",
        "x = 10 ** 10 ** 10\ny = [0] * 10 ** 12\nz = 'a' * 10 ** 12\n",
        "a = [1]\n" + "a = a + a\n" * 100,
    ],
)
def test_hostile_or_foreign_sources_give_low_confidence_and_no_exception(source: str) -> None:
    assert read_task(None, source).confidence <= 0.6


def test_a_source_beyond_a_megabyte_is_not_read() -> None:
    profile = read_task(None, model("return torch.relu(x)") + "# " + "x" * MAX_SOURCE_BYTES)
    assert profile.confidence == 0.0
    assert any("1 MB" in evidence.says for evidence in profile.evidence)


def test_at_most_forty_operations_are_kept() -> None:
    profile = read_task(None, model("for i in range(300):\n    x = torch.relu(x + 1)\nreturn x"))
    assert 0 < len(profile.operations) <= 40
    assert profile.regimes["many_layers"]


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=400), st.text(max_size=400))
@example("```python\n" + "x" * 50, "\ud800")
def test_any_string_is_read_without_an_exception(text: str, code: str) -> None:
    profile = read_task(text, code)
    assert 0.0 <= profile.confidence <= 1.0
    assert read_task(text, None).family is not None


STATEMENTS = (
    "torch.relu(x)", "x * 2", "x + y", "F.softmax(x, dim=9)", "x.view(-1, 7)", "x[..., None, -1]", "x.sum(99)", "x @ y",
    "torch.cat([x, y], dim=3)", "x.permute(3, 1)", "self.q(x)", "y[1:2:0]", "x.chunk(0)", "torch.max(x, dim=1)[0]",
    "nope(x)", "x.T.mT", "torch.einsum('ij', x)", "x.split(0)", "x.unflatten(-1, (0, 0))", "torch.zeros(-1) / 0",
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(STATEMENTS), max_size=12))
def test_any_mix_of_statements_is_followed_without_an_exception(steps: list[str]) -> None:
    body = "y = x\n" + "\n".join(f"x = {step}" for step in steps) + "\nreturn x"
    assert read_task(None, model(body)).confidence >= 0.0
