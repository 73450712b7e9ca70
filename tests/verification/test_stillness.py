"""Nothing but the call runs from its values to the copy of its output; what is replaced in passing is seen."""

import gc
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from app.verification.stillness import Stillness


def place() -> dict[str, Any]:
    return {"copy": lambda: 1, "read": lambda: 2}


def watching(space: dict[str, Any]) -> Stillness:
    return Stillness([("place", space, dict(space))])


def test_nothing_is_found_where_nothing_happened() -> None:
    stillness = watching(place())
    stillness.begin_call()
    stillness.end_call()
    stillness.look()
    gc.enable()
    assert stillness.found == set()


def test_a_function_that_is_replaced_at_the_moment_is_found_although_it_is_put_back() -> None:
    space = place()
    stillness, plain = watching(space), space["copy"]
    space["copy"] = lambda: 3
    stillness.look()
    space["copy"] = plain
    stillness.look()
    assert stillness.found == {"place", "place.copy"}


def test_a_function_that_is_gone_or_has_other_code_is_found() -> None:
    space = place()
    stillness = watching(space)
    setattr(space["read"], "__code__", (lambda: 4).__code__)  # noqa: B010
    stillness.look()
    assert stillness.found == {"code of a function"}
    del space["read"]
    stillness.look()
    assert "place.read" in stillness.found


def test_what_looks_for_changes_does_not_use_what_was_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    space = place()
    stillness = watching(space)
    space["copy"] = None
    with monkeypatch.context() as patched:
        for name in ("all", "map", "zip"):
            patched.setattr(f"builtins.{name}", lambda *_: [])
        stillness.look()
    assert "place.copy" in stillness.found


@pytest.mark.parametrize("turn_on", [sys.setprofile, sys.settrace])
def test_hooks_of_python_end_with_the_call_and_are_found(turn_on: Callable[[Any], None]) -> None:
    stillness = watching(place())
    before = sys.getprofile(), sys.gettrace()
    try:
        turn_on(lambda *_: None)
        stillness.end_call()
        assert (sys.getprofile(), sys.gettrace()) == (None, None)
    finally:
        sys.setprofile(before[0])
        sys.settrace(before[1])
        gc.enable()
    assert stillness.found == {"trace function"}


def test_the_collector_rests_outside_calls_and_its_callbacks_are_found() -> None:
    stillness = watching(place())
    try:
        stillness.end_call()
        assert not gc.isenabled()
        stillness.begin_call()
        assert gc.isenabled()
        gc.callbacks.append(lambda *_: None)
        stillness.look()
    finally:
        gc.callbacks.pop()
    assert stillness.found == {"callbacks of the garbage collector"}


def test_a_thread_beside_the_clock_is_found() -> None:
    stillness, end = watching(place()), threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        stillness.look()
    finally:
        end.set()
        thread.join()
    assert stillness.found == {"threads beside the clock"}


@pytest.mark.parametrize("timer", [signal.ITIMER_VIRTUAL, signal.ITIMER_PROF])
def test_a_timer_that_runs_is_found(timer: int) -> None:
    stillness = watching(place())
    signal.setitimer(timer, 100.0)
    try:
        stillness.look()
    finally:
        signal.setitimer(timer, 0.0)
    assert stillness.found == {"timer"}


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="Python before 3.12 has no sys.monitoring")
def test_monitoring_ends_with_the_call_and_is_found() -> None:
    monitoring: Any = getattr(sys, "monitoring", None)
    stillness, seen = watching(place()), []
    monitoring.use_tool_id(3, "test")
    try:
        monitoring.register_callback(3, monitoring.events.PY_START, lambda *event: seen.append(event))
        monitoring.set_events(3, monitoring.events.PY_START)
        stillness.end_call()
        before = len(seen)
        place()
        assert len(seen) == before
    finally:
        monitoring.set_events(3, 0)
        monitoring.free_tool_id(3)
        gc.enable()
    assert stillness.found == {"monitoring"}
