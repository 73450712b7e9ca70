"""From the values of a call to the copy of its output no code of the candidate may run but the call itself.

Python has hooks that run when nobody calls them: profilers, tracers, the garbage collector's callbacks. They are turned
off. What a candidate replaces in passing, and puts back before the next check, is seen when the call returns.
"""

import gc
import operator
import signal
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

_CODE = operator.attrgetter("__code__")
TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
_MONITORING: Any = getattr(sys, "monitoring", None)
_TOOLS = range(6)
"""Numbers that a program may give to what it monitors with; Python keeps the others for its own hooks."""


class Stillness:
    """Make it before a candidate is imported. `watched` are places: their names and the functions found there.

    All that it calls is bound here and written in C, so that looking takes a fraction of a millisecond and passes by
    what a candidate may have replaced.
    """

    def __init__(self, watched: Iterable[tuple[str, Mapping[str, Any], dict[str, Callable[..., Any]]]]) -> None:
        self.found: set[str] = set()
        """What was out of place at one moment or another."""
        self._spaces = [(place, space.get, tuple(own), tuple(own.values())) for place, space, own in watched]
        functions = {id(one): one for *_, own in self._spaces for one in own if hasattr(one, "__code__")}
        self._functions = tuple(functions.values())
        self._codes = tuple(map(_CODE, self._functions))
        self._all, self._map, self._zip, self._same, self._code = all, map, zip, operator.is_, _CODE
        self._hooks = ((sys.getprofile, sys.setprofile), (sys.gettrace, sys.settrace))
        self._collect, self._rest, self._callbacks = gc.enable, gc.disable, gc.callbacks
        self._callbacks_before = len(gc.callbacks)
        self._frames, self._threads = sys._current_frames, len(sys._current_frames())
        self._timer = signal.getitimer
        self._timers = tuple(timer for timer in TIMERS if signal.getitimer(timer)[0] == 0)
        self._monitor = _monitor() if _MONITORING else None

    def begin_call(self) -> None:
        """The collector may run within a call, as it does wherever a model is used; its time counts there."""
        self._collect()

    def end_call(self) -> None:
        """From now on nothing runs by itself. Before the clock is stopped, so that a last hook counts."""
        for hook, turn_off in self._hooks:
            if hook() is not None:
                self.found.add("trace function")
            turn_off(None)
        if self._monitor is not None:
            tool, no_events = self._monitor
            for number in _TOOLS:
                if tool(number) is not None:
                    self.found.add("monitoring")
                    no_events(number)
        self._rest()

    def look(self) -> None:
        """Note what is replaced, waiting or at work at this moment."""
        for place, get, names, functions in self._spaces:
            if not self._all(self._map(self._same, self._map(get, names), functions)):
                self.found.add(place)
                self.found |= {f"{place}.{name}" for name, one in self._zip(names, functions) if get(name) is not one}
        if not self._all(self._map(self._same, self._map(self._code, self._functions), self._codes)):
            self.found.add("code of a function")
        if len(self._callbacks) > self._callbacks_before:
            self.found.add("callbacks of the garbage collector")
        if len(self._frames()) > self._threads:
            self.found.add("threads beside the clock")
        for timer in self._timers:
            if self._timer(timer)[0] > 0:
                self.found.add("timer")


def _monitor() -> tuple[Callable[[int], Any], Callable[[int], None]]:
    """Who monitors under a number, and how to call back nobody under it."""
    tool, callback, events = _MONITORING.get_tool, _MONITORING.register_callback, _events()

    def no_events(number: int) -> None:
        for event in events:
            callback(number, event, None)

    return tool, no_events


def _events() -> tuple[int, ...]:
    """All events that Python can call back for."""
    values = (value for name, value in vars(_MONITORING.events).items() if name.isupper())
    return tuple(value for value in values if value and value & (value - 1) == 0)
