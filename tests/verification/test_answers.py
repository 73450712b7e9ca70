"""Whatever a candidate's process answers, the judge either finds the parts it reads or calls the answer garbled."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.verification.answers import is_well_formed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OUTPUT = {"tree": {"t": 0}, "specs": [{"shape": [2, 3], "dtype": "float32", "stride": [3, 1]}], "size": 32}
TIME: dict[str, Any] = {"stream_ms": 0.1, "device_ms": 0.2, "enqueue_ms": 0.1, "launches": 0, "operators": {}}
RUN = {**OUTPUT, "mutated": False, "alias": "", "launches": {"mine": 1}}


def test_real_answers_are_well_formed() -> None:
    assert is_well_formed("run", RUN)
    assert is_well_formed("time", TIME)
    assert is_well_formed("run_knocked_out", {"failed": True, "held_back": 1})
    assert is_well_formed("run_knocked_out", {"failed": False, "held_back": 1, **OUTPUT})
    assert is_well_formed("take", {"taken": 16})


@pytest.mark.parametrize("part", RUN)
def test_a_missing_part_is_garbled(part: str) -> None:
    assert not is_well_formed("run", {name: value for name, value in RUN.items() if name != part})


@pytest.mark.parametrize(
    "spec",
    [{}, 3, {"shape": [2], "dtype": "float32", "stride": []}, {"shape": ["2"], "dtype": "float32", "stride": [1]}],
)
def test_a_crooked_description_is_garbled(spec: Any) -> None:
    assert not is_well_formed("run", {**RUN, "specs": [spec]})


@pytest.mark.parametrize("reading", [float("nan"), float("inf"), -1.0, "fast", None, True])
def test_a_reading_that_is_no_time_is_garbled(reading: Any) -> None:
    for name in ("stream_ms", "device_ms", "enqueue_ms"):
        assert not is_well_formed("time", TIME | {name: reading})


@given(st.sampled_from(["run", "changes", "profile", "time", "hello", "run_knocked_out"]), JSON)
def test_any_json_is_judged_without_a_crash(op: str, value: Any) -> None:
    assert is_well_formed(op, {"specs": value, "kernels": value, "patched": value, "failed": value}) is False


@pytest.mark.parametrize("huge", [10**400, 1e300, float("inf"), float("nan"), -1, True])
def test_a_number_that_is_no_reading_is_garbled_and_no_crash(huge: float) -> None:
    assert not is_well_formed("time", TIME | {"stream_ms": huge})
    kernels = {"marker": True, "kernels": {"k": huge}, "total_us": 1.0, "streams": 1}
    assert not is_well_formed("profile", kernels)


def test_a_tree_that_is_too_deep_or_too_long_is_garbled() -> None:
    deep: dict[str, Any] = {"v": 1}
    for _ in range(500):
        deep = {"l": [deep]}
    assert is_well_formed("describe", {**RUN, "tree": {"l": [{"t": 0}]}})
    assert not is_well_formed("describe", {**RUN, "tree": deep})
    assert not is_well_formed("describe", {**RUN, "tree": {"v": "é" * 1_000_000}})
