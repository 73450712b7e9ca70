"""Numbers and conditions in a task's words: shapes, stride, groups, batch size, precision, tolerance, norm mode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import Any

from app.memory.lexicon import Lexicon
from app.memory.task.profile import Shape

_TUPLE = re.compile(r"\(\s*(\d{1,9}(?:\s*,\s*\d{1,9}){1,4})\s*,?\s*\)")
_TIMES = re.compile(r"(?<![\w.])(\d{1,9}(?:\s?x\s?\d{1,9}){1,4})(?![\w.])")
_TOLERANCE = re.compile(r"(?<![\w.])(1e-[2-6]|1e-0[2-6]|0\.0*1)\b")


@dataclass(frozen=True, slots=True)
class Quantities:
    """What the words say in numbers: input shapes, convolution and product details, regimes, dtype and tolerance."""

    shapes: tuple[Shape, ...]
    convolution: Mapping[str, Any]
    product: Mapping[str, Any]
    recurrence: Mapping[str, Any]
    norm: Mapping[str, Any]
    regimes: Mapping[str, bool]
    dtype: str | None
    tolerance: float | None


_NONE: Mapping[str, Any] = MappingProxyType({})
NO_QUANTITIES = Quantities((), _NONE, _NONE, _NONE, _NONE, _NONE, None, None)
"""What an empty text says."""


def read_quantities(text: str, lexicon: Lexicon) -> Quantities:
    """Read the numbers and conditions of a normalised text (see `lexicon.words.normalise`)."""
    shapes = tuple(sorted(_shapes(text), key=prod, reverse=True))
    regimes = {regime: True for regime, expression in lexicon.regime_words if expression.search(text)}
    if "stride_1" in regimes:
        regimes.setdefault("strided", False)
    elif "strided" in regimes:
        regimes.setdefault("stride_1", False)
    if "eval_mode_norm" in regimes and "train_mode_norm" not in regimes:
        regimes["train_mode_norm"] = False
    batch = _first(r"\b(?:batch(?: size)?|bs)[ =]?(?:of )?(\d{1,6})\b|\bn=(\d{1,6})\b", text)
    if batch:
        regimes |= {"small_batch": batch <= 16, "large_batch": batch >= 100}
    tolerance = _TOLERANCE.search(text)
    dtype = re.search(r"\b(fp32|float32|fp16|float16|bf16|bfloat16|fp8|int8|half)\b", text)
    return Quantities(
        shapes, MappingProxyType(_convolution(text)), MappingProxyType(_product(text, shapes)),
        MappingProxyType(_recurrence(text)), MappingProxyType(_groups(text)), MappingProxyType(regimes),
        dtype.group(1) if dtype else None, float(tolerance.group(1)) if tolerance else None,
    )  # fmt: skip


def _shapes(text: str) -> Iterator[Shape]:
    for pattern, separator in ((_TUPLE, ","), (_TIMES, "x")):
        for found in pattern.finditer(text):
            shape = tuple(int(part) for part in found.group(1).replace(" ", "").split(separator))
            if (max(shape) >= 16 and len(shape) >= 2) and not (len(shape) <= 3 and max(shape) <= 11):
                yield shape


def _first(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(next(group for group in found.groups() if group)) if found else 0


def _convolution(text: str) -> dict[str, Any]:
    detail: dict[str, Any] = {}
    channels = re.search(
        r"\b(\d{1,4})\s*(?:->|to|in,|input channels?,?(?: and)?)\s*(\d{1,4})\s*(?:out|channels?|output)?\b"
        r"|conv\w*\(\s*(\d+)\s*,\s*(\d+)",
        text,
    )
    if channels:
        first, second = (int(group) for group in channels.groups() if group)
        if max(first, second) <= 2048:
            detail |= {"in_channels": first, "out_channels": second}
    kernel = re.search(
        r"kernel(?:[_ ]size)?[ =]*(?:of )?\(?(\d+(?:\s*[,x]\s*\d+){0,2})|\bk=?(\d{1,2})\b"
        r"|\b(\d{1,2}x\d{1,2}(?:x\d{1,2})?)\b",
        text,
    )
    if kernel:
        sizes = tuple(int(size) for size in re.findall(r"\d+", next(group for group in kernel.groups() if group)))
        if max(sizes) <= 15:
            detail["kernel"] = sizes
    dilation = re.search(r"dilation[ =]*(?:of )?\(?(\d+(?:\s*,\s*\d+){0,2})", text)
    if dilation:
        detail["dilation"] = tuple(int(size) for size in re.findall(r"\d+", dilation.group(1)))
    return detail


def _product(text: str, shapes: tuple[Shape, ...]) -> dict[str, Any]:
    detail: dict[str, Any] = {}
    sizes = re.search(
        r"(?:linear|layer|fc|gemm|dense)\w*\s*\(?\s*(\d{2,6})\s*(?:in)?\s*(?:,|->|to|x)\s*(\d{2,6})"
        r"|(\d{3,6})\s*(?:->|to|-to-)\s*(\d{3,6})",
        text,
    )
    if sizes:
        inner, width = (int(group) for group in sizes.groups() if group)
        detail |= {"inner": inner, "width": width}
    rows = _first(r"\b(\d{2,6})\s*(?:fp32\s*)?(?:rows|samples|vectors)\b|batch (?:of|size) (\d{2,6})", text)
    matrices = [shape for shape in shapes if len(shape) == 2]
    if rows or matrices:
        detail["rows"] = rows or matrices[0][0]
    return detail


def _recurrence(text: str) -> dict[str, Any]:
    detail: dict[str, Any] = {}
    if hidden := _first(r"hidden(?: size)?[ =]*(?:of )?(\d{1,5})|\bh=?(\d{2,5})\b", text):
        detail["hidden"] = hidden
    if layers := _first(r"\b(\d{1,2})[ -]?(?:layers?|l)\b", text):
        detail["layers"] = layers
    if re.search(r"bidirectional|\bbi[- ]?(?:gru|lstm|rnn)\b", text):
        detail["bidirectional"] = True
    return detail


def _groups(text: str) -> dict[str, Any]:
    groups = _first(r"(?:with |, )(\d{1,4}) groups|(\d{1,4}) groups|(?:gn|groupnorm|group norm)\(?\s*(\d{1,4})", text)
    block = _first(r"(?:blocks?|runs?|groups|bundles|chunks) of (\d{1,4})\b", text)
    return {"groups": groups} if groups else {"groups": 1, "channels": block} if block else {}
