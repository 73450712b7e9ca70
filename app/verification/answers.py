"""Shapes of the untrusted answers of a candidate process: one of another shape is garbled, never a crash here."""

import json
import math
from collections.abc import Callable
from typing import Any

Check = Callable[[Any], bool]
_MAX_ENTRIES = 4096
_LARGEST = 1e30
_MAX_DEPTH = 80
_MAX_TREE = 1_000_000


def _is_number(value: Any) -> bool:
    is_real = isinstance(value, int | float) and not isinstance(value, bool)
    return is_real and 0 <= value < _LARGEST and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and len(value) <= _MAX_ENTRIES and all(map(check, value))


def _table_of(check: Check) -> Check:
    return lambda value: isinstance(value, dict) and len(value) <= _MAX_ENTRIES and all(map(check, value.values()))


def _is_spec(value: Any) -> bool:
    """A tensor's description; strides and sizes are plain integers, as many of one as of the other."""
    if not isinstance(value, dict) or not _is_text(value.get("dtype")):
        return False
    shape, stride = value.get("shape"), value.get("stride")
    return _list_of(_is_count)(shape) and _list_of(_is_count)(stride) and len(shape or []) == len(stride or [])


def _is_tree(value: Any) -> bool:
    """A tree of an output: a table that is neither deep nor long, as it is sent on to the reference."""
    return isinstance(value, dict) and _depth(value) <= _MAX_DEPTH and len(json.dumps(value)) <= _MAX_TREE


def _depth(value: Any) -> int:
    """Levels of nesting, found without recursion."""
    deepest, level = 0, [value]
    while level and deepest <= 2 * _MAX_DEPTH:
        parts = [part for part in level if isinstance(part, dict | list)]
        level = [inner for part in parts for inner in (part.values() if isinstance(part, dict) else part)]
        deepest += bool(parts)
    return deepest


_OUTPUT: dict[str, Check] = {"tree": _is_tree, "specs": _list_of(_is_spec), "size": _is_count}
_COUNTED: dict[str, Check] = {"launches": _is_count, "operators": _table_of(_is_count)}
_TIMES: dict[str, Check] = {"stream_ms": _is_number, "device_ms": _is_number, "enqueue_ms": _is_number}
_ANSWERS: dict[str, dict[str, Check]] = {
    "hello": {"device": _is_text, "triton": _is_flag, "shims": _list_of(_is_text)},
    "run": {**_OUTPUT, "mutated": _is_flag, "alias": _is_text, "launches": _table_of(_is_count)},
    "trace": {"operators": _table_of(_is_count)},
    "describe": {**_OUTPUT, "mutated": _is_flag, "alias": _is_text},
    "rehearse": _COUNTED,
    "changes": {
        "patched": _list_of(_is_text),
        "switches": _list_of(_is_text),
        "environment": _list_of(_is_text),
        "threads": _is_count,
    },
    "profile": {"marker": _is_flag, "kernels": _table_of(_is_number), "total_us": _is_number, "streams": _is_count},
    "time": {**_TIMES, **_COUNTED},
}


def is_well_formed(op: str, answer: dict[str, Any]) -> bool:
    """Whether the answer to `op` has every part that the judge reads, of the right kind; more parts do no harm."""
    if op == "run_knocked_out":
        if not (_is_flag(answer.get("failed")) and _is_count(answer.get("held_back"))):
            return False
        return bool(answer["failed"]) or all(check(answer.get(name)) for name, check in _OUTPUT.items())
    return all(check(answer.get(name)) for name, check in _ANSWERS.get(op, {}).items())
