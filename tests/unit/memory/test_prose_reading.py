"""Requests, terse notes and paraphrases are read into the same operations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from app.memory.lexicon import load_lexicon
from app.memory.lexicon.words import normalise, stem
from app.memory.task import read_task
from app.memory.task.reading import CONFIDENT, OF_THE_CRAFT


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("convT3d bn avgpool", ("conv_transpose3d", "batch_norm", "avg_pool3d")),
        (
            "deconv3d channel lse hswish sub clamp",
            ("conv_transpose3d", "logsumexp", "hardswish", "scalar_add", "clamp"),
        ),
        ("fc gn lrelu x+x", ("linear", "group_norm", "leaky_relu", "residual_add")),
        ("gemm silu /2 clamp tanh", ("linear", "swish", "scalar_multiply", "clamp", "tanh")),
        ("gemm fp32", ("matmul",)),
        ("A^T B^T gemm", ("matmul_transposed_both",)),
        ("tril(A@B), both lower", ("triangular_matmul",)),
        ("huber loss mean", ("smooth_l1_loss",)),
        ("dw conv 3x3 s1", ("depthwise_conv2d",)),
        ("pw conv relu6", ("pointwise_conv", "relu6")),
        ("sdpa heads 32", ("scaled_dot_product_attention",)),
        ("A.T @ B.T", ("matmul_transposed_both",)),
        ("reverse cumsum", ("reverse_cumsum",)),
    ],
)
def test_terse_notes_are_read_operation_by_operation(note: str, expected: tuple[str, ...]) -> None:
    assert read_task(note, None).chain == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("set every negative entry to zero", "relu"),
        ("negatives are zeroed", "relu"),
        ("gate every entry by its own logistic value", "swish"),
        ("standardise each column over the minibatch", "batch_norm"),
        ("standardize each column over the minibatch", "batch_norm"),
        ("reduce each row to the log of its summed exponentials", "logsumexp"),
        ("exponentiate each row and divide by the total so that it sums to one", "softmax"),
        ("scatter each voxel with a learned filter onto a finer grid", "conv_transpose3d"),
        ("slide a bank of filters over an image", "conv2d"),
        ("keep the largest value of each window of the image", "max_pool2d"),
        ("running total along the axis", "cumsum"),
        ("multiply each value by the area under the bell curve to its left", "gelu"),
        ("divide each vector by the root of its average square", "rms_norm"),
        ("superimpose another volume", "residual_add"),
        ("condense every channel to its average", "global_avg_pool"),
        ("z / (1 + e^(-z))", "swish"),
        ("C_ij = Σ_k A_ki B_jk", "matmul_transposed_both"),
        ("C_ij = Σ_k A_ik B_jk", "matmul_transposed_b"),
        ("min(1, max(0, (x+3)/6))", "hardsigmoid"),
    ],
)
def test_everyday_words_are_read_as_operations(words: str, expected: str) -> None:
    assert expected in read_task(words, None).chain


def test_a_part_of_a_whole_is_no_step() -> None:
    attention = "mix the values with weights from normalised exponentials of inner products of queries and keys"
    assert "softmax" not in read_task(attention, None).chain
    assert "linear" not in read_task("Multiply two dense arrays", None).chain


@pytest.mark.parametrize(
    "text", ["linear without relu, then tanh", "linear, no relu, tanh", "linear then tanh instead of relu"]
)
def test_negated_operations_are_not_read(text: str) -> None:
    assert read_task(text, None).chain == ("linear", "tanh")


def test_british_and_american_spellings_share_a_stem() -> None:
    for british, american in (
        ("normalisation", "normalization"),
        ("centre", "center"),
        ("neighbourhood", "neighborhood"),
    ):
        assert stem(british) == stem(american)


def test_code_inside_prose_is_read_as_code(module: str) -> None:
    fenced = read_task(f"Please make this faster:\n```python\n{module}\n```\nThanks.", None)
    bare = read_task(f"Please make this faster.\n{module}", None)
    assert fenced.chain == bare.chain == read_task(None, module).chain


def test_numbers_in_words_become_regimes() -> None:
    profile = read_task(
        "ConvTranspose2d 3->16, kernel 3, stride 2, groups 4 on a (16, 32, 64, 64) fp32 input, atol 1e-4", None
    )
    assert profile.regimes["strided"] and profile.regimes["grouped"] and profile.regimes["small_batch"]
    assert profile.tolerance == 1e-4
    assert profile.dtype == "fp32"
    assert (16, 32, 64, 64) in profile.shapes


def test_a_problem_name_alone_is_enough() -> None:
    profile = read_task(None, None, problem_name="ConvTranspose3d_ReLU_GroupNorm", level=2)
    assert profile.chain == ("conv_transpose3d", "relu", "group_norm")
    assert profile.family == "conv_transpose"


class Listener:
    """A sentence model that answers with fixed vectors and counts its calls."""

    def __init__(self) -> None:
        self.calls: list[Sequence[str]] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(texts)
        vectors = np.ones((len(texts), 4), dtype=np.float32)
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


def test_the_sentence_model_is_not_asked_where_the_words_are_clear(module: str) -> None:
    listener = Listener()
    for text, code in (("convT3d bn avgpool", None), (None, module), ("Linear, GroupNorm and hardtanh", None)):
        assert read_task(text, code, embed=listener).confidence >= CONFIDENT
    assert listener.calls == []


@pytest.mark.parametrize(
    ("text", "is_craft"),
    [
        ("add two vectors in triton", True),
        ("how do I write a fast reduction kernel?", True),
        ("sum of a tall matrix over its first dimension, 65536 x 128 fp32", True),
        ("elementwise add kernel", True),
        ("kernel panic on boot after update", False),
        ("one kernel among many kernels of an ear of maize", False),
        ("triton is a moon of neptune, why does it orbit backwards", False),
        ("best gpu for gaming under 500 dollars", False),
    ],
)
def test_a_text_about_writing_kernels_is_told_from_one_that_shares_a_word(text: str, is_craft: bool) -> None:
    assert (read_task(text, None).confidence >= OF_THE_CRAFT) is is_craft


def test_a_kernel_that_transposes_is_no_transposed_convolution() -> None:
    assert read_task("I need a fast transpose kernel", None).chain == ()
    assert read_task("conv transpose kernel 3x3 stride 2", None).chain == ("conv_transpose2d",)


def test_an_undecided_sentence_model_adds_nothing() -> None:
    text = "please whirl the gadget around the doohickey until wobbly"
    assert read_task(text, None, embed=Listener()).chain == read_task(text, None).chain


def test_every_reading_says_what_it_rests_on() -> None:
    profile = read_task("fc then gelu, no bias", None)
    said = " ".join(evidence.says for evidence in profile.evidence)
    assert "linear" in said and "gelu" in said and "no bias" in said


def test_every_operation_has_phrasings_and_every_phrasing_an_operation() -> None:
    lexicon = load_lexicon()
    plain = [operation for operation in lexicon.operations.values() if not operation.is_set]
    spoken = {pattern.operation.replace("{d}", d) for pattern in lexicon.patterns for d in ("1d", "2d", "3d")}
    spoken |= set(lexicon.names.values()) | {
        name.replace("{d}", d) for name in lexicon.names.values() for d in ("1d", "2d", "3d")
    }
    assert [operation.name for operation in plain if operation.name not in spoken] == []
    assert normalise("A→B ± 2²") == "a -> b  plusminus  2^2"
