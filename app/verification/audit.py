"""What a candidate changed in its own process and should not have: functions, switches, environment, threads.

The verdict does not rest on it (values and clocks are checked from outside); it tells an attempt from a mistake.
"""

import importlib
import json
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from app.verification.process_state import environment, hidden_hooks, switches
from app.verification.stillness import Stillness

_WATCHED_MODULES = (
    "torch", "torch.cuda", "torch.nn.functional", "torch.testing", "torch.profiler", "torch.autograd.profiler",
    "torch.utils.cpp_extension", "time", "json", "json.encoder", "json.decoder", "socket", "os", "builtins", "gc",
    "math", "threading", "contextlib",
)  # fmt: skip
_WATCHED_CLASSES: tuple[type, ...] = (
    torch.Tensor, torch.nn.Module, torch.nn.Parameter, torch.Size, torch.UntypedStorage, torch.Generator, torch.no_grad,
    torch.cuda.Event, torch.cuda.Stream, torch.cuda.CUDAGraph, json.JSONEncoder, json.JSONDecoder, socket.socket,
)  # fmt: skip
_WATCHED_PREFIX = "app.verification"
_REPLACED_BY_TORCH = ("torch.manual_seed",)
"""torch wraps it anew when its compiler is imported, which custom operators do. The evaluator does not call it in the
candidate's process while it times."""

Space = Mapping[str, Any]


class Audit:
    """A picture of the process before the candidate was imported. `guarded` are objects whose functions must stay."""

    def __init__(self, guarded: list[object], stillness: Stillness) -> None:
        self._guarded = [(value, dict(vars(value))) for value in guarded]
        spaces = dict(_namespaces())
        self._functions = {place: dict(_callables(space)) for place, space in spaces.items()}
        self._insides = {id(f): _inside(f) for found in self._functions.values() for f in found.values()}
        self._own_names = {place: set(space) for place, space in spaces.items() if _is_harness(place)}
        self._switches = switches()
        self._environment = environment()
        self._hooks = hidden_hooks()
        self._threads = _thread_count()
        self._stillness = stillness

    def changes(self) -> dict[str, Any]:
        """Names of replaced functions, switches, environment variables; threads that are still there."""
        return {
            "patched": self._patched(),
            "switches": _differences(self._switches, switches()),
            "environment": _differences(self._environment, environment()),
            "threads": max(0, _thread_count() - self._threads),
        }

    def _patched(self) -> list[str]:
        found = [*_differences(self._hooks, hidden_hooks()), *self._stillness.found]
        now = dict(_namespaces())
        for place, functions in self._functions.items():
            space = now.get(place, {})
            found += [f"{place}.{name}" for name, f in functions.items() if not self._is_as_before(space.get(name), f)]
        for place, names in self._own_names.items():
            added = set(now.get(place, {})) - names
            found += [f"{place}.{name}" for name in added if f"{place}.{name}" not in sys.modules]
        found += [f"{kind.__qualname__}.{name}" for kind in _classes() for name in self._shadowing(kind)]
        for value, attributes in self._guarded:
            present = vars(value)
            replaced = [n for n, before in attributes.items() if callable(before) and present.get(n) is not before]
            shadowed = [n for n in present if n not in attributes and hasattr(type(value), n)]
            found += [f"{type(value).__name__}.{name}" for name in (*replaced, *shadowed)]
        return sorted(set(found) - set(_REPLACED_BY_TORCH))[:20]

    def _is_as_before(self, present: Any, function: Callable[..., Any]) -> bool:
        return present is function and _inside(function) == self._insides[id(function)]

    def _shadowing(self, kind: type) -> list[str]:
        """Names that a class has now and did not have, and that hide those of its bases."""
        before = self._functions.get(_place(kind), {})
        inherited = {name for base in kind.__mro__[1:] for name in vars(base)}
        return [name for name, value in vars(kind).items() if callable(value) and name in inherited - set(before)]


def watched_functions() -> Iterator[tuple[str, Space, dict[str, Callable[..., Any]]]]:
    """Places, their names, and the functions in them that nobody may replace even for a moment."""
    for place, space in _namespaces():
        yield place, space, {name: f for name, f in _callables(space) if f"{place}.{name}" not in _REPLACED_BY_TORCH}


def _namespaces() -> list[tuple[str, Space]]:
    spaces = [(name, vars(importlib.import_module(name))) for name in _WATCHED_MODULES]
    spaces += [(name, vars(module)) for name, module in list(sys.modules.items()) if _is_harness(name)]
    return spaces + [(_place(kind), vars(kind)) for kind in _classes()]


def _classes() -> list[type]:
    """Watched classes, and those of the program that runs the candidate."""
    classes = list(_WATCHED_CLASSES)
    for name, module in list(sys.modules.items()):
        if _is_harness(name):
            own = (value for value in vars(module).values() if isinstance(value, type))
            classes += [value for value in own if value.__module__ == name]
    return classes


def _place(kind: type) -> str:
    return f"class {kind.__module__}.{kind.__qualname__}"


def _callables(space: Space) -> list[tuple[str, Callable[..., Any]]]:
    return [(name, value) for name, value in space.items() if callable(value)]


def _inside(function: Callable[..., Any]) -> tuple[Any, ...]:
    """What a function does without being another one: its code and its default arguments."""
    keywords = getattr(function, "__kwdefaults__", None)
    pairs = tuple(map(id, keywords.values())) if isinstance(keywords, dict) else ()
    defaults = getattr(function, "__defaults__", None)
    return id(getattr(function, "__code__", None)), id(defaults), pairs


def _differences(before: Space, now: Space) -> list[str]:
    return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))


def _thread_count() -> int:
    return len(sys._current_frames())


def _is_harness(module_name: str) -> bool:
    """Modules of the program that runs the candidate, which was started as `__main__`."""
    return module_name.startswith(_WATCHED_PREFIX) or module_name == "__main__"
