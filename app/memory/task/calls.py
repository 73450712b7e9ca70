"""What calling a value means to the code reader: layers, containers, classes, functions, library names, builtins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.memory.task import functions, layers
from app.memory.task.constants import mathematics
from app.memory.task.values import UNKNOWN, Class, Container, Function, Instance, Layer, Method, Path, Tensor

if TYPE_CHECKING:
    from app.memory.task.expressions import Expressions

_CONTAINERS = frozenset({"Sequential", "ModuleList", "ModuleDict", "OrderedDict"})
_MAX_RANGE = 4096


def call_value(reader: Expressions, target: Any, inputs: list[Any], named: dict[str, Any]) -> Any:
    """Return the value of ``target(*inputs, **named)``."""
    if isinstance(target, Function):
        return reader.function(target, inputs, named)
    if isinstance(target, Class):
        return _construct(reader, target, inputs, named)
    if isinstance(target, Instance):
        return _forward(reader, target, inputs, named)
    if isinstance(target, Layer):
        return layers.apply(target, inputs, reader.trace)
    if isinstance(target, Container):
        return _chain(reader, list(target.items.values()), inputs)
    if isinstance(target, Path):
        return _library(reader, target, inputs, named)
    if isinstance(target, Method):
        return _method(reader, target, inputs, named)
    return next((value for value in inputs if isinstance(value, Tensor)), UNKNOWN)


def _construct(reader: Expressions, kind: Class, inputs: list[Any], named: dict[str, Any]) -> Instance:
    instance = Instance(kind)
    if method := kind.method("__init__"):
        reader.function(Function(method[0], method[1].scope, instance, method[1]), inputs, named)
    elif kind.library_base() in {"Sequential", "ModuleList"}:
        instance.attributes["_items"] = inputs
    return instance


def _forward(reader: Expressions, instance: Instance, inputs: list[Any], named: dict[str, Any]) -> Any:
    for name in ("forward", "__call__"):
        if method := instance.kind.method(name):
            return reader.function(Function(method[0], method[1].scope, instance, method[1]), inputs, named)
    if "_items" in instance.attributes:
        return _chain(reader, reader.items(instance.attributes["_items"]), inputs)
    return call_value(reader, instance.attributes.get("_layer", UNKNOWN), inputs, named)


def _chain(reader: Expressions, parts: list[Any], inputs: list[Any]) -> Any:
    if len(parts) == 1 and isinstance(parts[0], dict):
        parts = list(parts[0].values())
    value = inputs[0] if inputs else UNKNOWN
    for part in parts:
        value = call_value(reader, part, [value], {})
    return value


def _container(reader: Expressions, kind: str, inputs: list[Any]) -> Any:
    first = inputs[0] if inputs else []
    if kind == "OrderedDict":
        pairs = [pair for pair in reader.items(first) if isinstance(pair, tuple) and len(pair) == 2]
        return {key: value for key, value in pairs if isinstance(key, str)}
    if isinstance(first, dict):
        return Container(kind, {str(key): value for key, value in first.items()})
    parts = reader.items(first) if kind == "ModuleList" else inputs
    return Container(kind, {str(index): part for index, part in enumerate(parts)})


def _library(reader: Expressions, target: Path, inputs: list[Any], named: dict[str, Any]) -> Any:
    name, last = target.name, target.last
    if name == "dict" and named:
        return dict(named)
    if name in _BUILTINS:
        return _BUILTINS[name](reader, inputs)
    if last in _CONTAINERS:
        return _container(reader, last, inputs)
    if last == "Parameter":
        value = inputs[0] if inputs else UNKNOWN
        shape = value.shape if isinstance(value, Tensor) else None
        return reader.trace.tensor(shape, "parameter")
    if name.startswith("math.") or name.startswith(("np.", "numpy.")):
        return mathematics(last, inputs)
    if name.startswith("functools.partial") or last == "partial":
        return inputs[0] if inputs else UNKNOWN
    if last == "repeat" and name.startswith("itertools"):
        return [inputs[0]] * min(inputs[1], 16) if len(inputs) == 2 and isinstance(inputs[1], int) else UNKNOWN
    if last in {"rearrange", "repeat"}:
        first = inputs[0] if inputs else UNKNOWN
        return replace(first, shape=None) if isinstance(first, Tensor) else UNKNOWN
    if last == "checkpoint" and inputs:
        return call_value(reader, inputs[0], inputs[1:], named)
    if last[:1].isupper() and not name.startswith("torch.nn.functional"):
        return layers.build(last, inputs, named)
    return functions.call(last, inputs, named, reader.trace)


def _method(reader: Expressions, target: Method, inputs: list[Any], named: dict[str, Any]) -> Any:
    owner, name = target.owner, target.name
    if isinstance(owner, Tensor):
        return functions.call(name, [owner, *inputs], named, reader.trace)
    if isinstance(owner, Instance):
        return _instance_method(reader, owner, name, inputs)
    if isinstance(owner, Container):
        return _container_method(reader, owner, name, inputs)
    if isinstance(owner, (list, dict)):
        return _collection_method(reader, owner, name, inputs)
    if name == "forward":
        return call_value(reader, owner, inputs, named)
    if isinstance(owner, str) and name == "join":
        return UNKNOWN
    return next((value for value in inputs if isinstance(value, Tensor)), UNKNOWN)


def _instance_method(reader: Expressions, owner: Instance, name: str, inputs: list[Any]) -> Any:
    if name in {"register_buffer", "register_parameter", "add_module", "setattr"} and len(inputs) > 1:
        value = inputs[1]
        if name == "register_buffer" and isinstance(value, Tensor):
            value = replace(value, origin="constant")
        if isinstance(inputs[0], str):
            owner.attributes[inputs[0]] = value
            if "_items" in owner.attributes or owner.kind.library_base() == "Sequential":
                owner.attributes.setdefault("_items", []).append(value)
        return None
    if name in {"append", "extend"} and inputs:
        held = owner.attributes.setdefault("_items", [])
        held.extend(reader.items(inputs[0]) if name == "extend" else inputs)
        return None
    return next((value for value in inputs if isinstance(value, Tensor)), UNKNOWN)


def _container_method(reader: Expressions, owner: Container, name: str, inputs: list[Any]) -> Any:
    if name in {"append", "add_module"} and inputs:
        owner.items[str(len(owner.items))] = inputs[-1]
    elif name == "extend" and inputs:
        for part in reader.items(inputs[0]):
            owner.items[str(len(owner.items))] = part
    elif name == "items":
        return list(owner.items.items())
    elif name == "values":
        return list(owner.items.values())
    elif name == "keys":
        return list(owner.items)
    return None


def _collection_method(reader: Expressions, owner: Any, name: str, inputs: list[Any]) -> Any:
    if isinstance(owner, list) and len(owner) < _MAX_RANGE and inputs:
        if name == "append":
            owner.append(inputs[0])
        elif name == "extend":
            owner.extend(reader.items(inputs[0]))
        elif name == "insert" and len(inputs) > 1:
            owner.insert(inputs[0] if isinstance(inputs[0], int) else 0, inputs[1])
    elif isinstance(owner, list) and name == "pop":
        return owner.pop() if owner else UNKNOWN
    elif isinstance(owner, dict):
        if name == "get" and inputs and isinstance(inputs[0], (str, int)):
            return owner.get(inputs[0], inputs[1] if len(inputs) > 1 else None)
        views: dict[str, list[Any]] = {
            "items": list(owner.items()),
            "values": list(owner.values()),
            "keys": list(owner),
        }
        return views.get(name, [])
    return None


def _range(reader: Expressions, inputs: list[Any]) -> Any:
    if not inputs or not all(isinstance(value, int) and abs(value) <= 10**9 for value in inputs) or len(inputs) > 3:
        return UNKNOWN
    return range(*inputs)[:_MAX_RANGE] if inputs[2:] != [0] else UNKNOWN


def _length(reader: Expressions, inputs: list[Any]) -> Any:
    value = inputs[0] if inputs else UNKNOWN
    if isinstance(value, Tensor):
        return value.shape[0] if value.shape else UNKNOWN
    if isinstance(value, Container):
        return len(value.items)
    return len(value) if isinstance(value, (list, tuple, dict, str, range)) else UNKNOWN


def _absolute(reader: Expressions, inputs: list[Any]) -> Any:
    if inputs and isinstance(inputs[0], (int, float)):
        return abs(inputs[0])
    return functions.call("abs", inputs, {}, reader.trace)


def _convert(kind: Callable[[Any], Any]) -> Callable[[Expressions, list[Any]], Any]:
    def convert(reader: Expressions, inputs: list[Any]) -> Any:
        value = inputs[0] if inputs else 0
        try:
            return kind(value) if isinstance(value, (int, float, bool)) else UNKNOWN
        except (ValueError, OverflowError):
            return UNKNOWN

    return convert


def _extreme(function: Callable[[Any], Any]) -> Callable[[Expressions, list[Any]], Any]:
    def extreme(reader: Expressions, inputs: list[Any]) -> Any:
        values = reader.items(inputs[0]) if len(inputs) == 1 else inputs
        return function(values) if values and all(isinstance(value, (int, float)) for value in values) else UNKNOWN

    return extreme


def _sum(reader: Expressions, inputs: list[Any]) -> Any:
    total: Any = 0
    for value in reader.items(inputs[0]) if inputs else []:
        total = reader.operate("Add", total, value)
    return total


def _map(reader: Expressions, inputs: list[Any]) -> Any:
    return (
        [call_value(reader, inputs[0], [item], {}) for item in reader.items(inputs[1])] if len(inputs) > 1 else UNKNOWN
    )


def _next_of(reader: Expressions, inputs: list[Any]) -> Any:
    items = reader.items(inputs[0]) if inputs else []
    return items[0] if items else UNKNOWN


def _isinstance(reader: Expressions, inputs: list[Any]) -> Any:
    value, kind = (*inputs, UNKNOWN, UNKNOWN)[:2]
    names = [part.last for part in (kind if isinstance(kind, tuple) else (kind,)) if isinstance(part, Path)]
    plain = {"int": int, "float": float, "tuple": tuple, "list": list, "str": str, "Iterable": (list, tuple, str)}
    known = [plain[name] for name in names if name in plain]
    return any(isinstance(value, k) for k in known) if known and value is not UNKNOWN else UNKNOWN  # type: ignore[arg-type]


_BUILTINS: Mapping[str, Callable[[Expressions, list[Any]], Any]] = {
    "range": _range,
    "len": _length,
    "int": _convert(int),
    "float": _convert(float),
    "bool": _convert(bool),
    "abs": _absolute,
    "round": _convert(round),
    "max": _extreme(max),
    "min": _extreme(min),
    "sum": _sum,
    "map": _map,
    "next": _next_of,
    "list": lambda reader, inputs: reader.items(inputs[0]) if inputs else [],
    "tuple": lambda reader, inputs: tuple(reader.items(inputs[0])) if inputs else (),
    "zip": lambda reader, inputs: list(zip(*map(reader.items, inputs), strict=False)),
    "enumerate": lambda reader, inputs: list(enumerate(reader.items(inputs[0]))) if inputs else [],
    "reversed": lambda reader, inputs: reader.items(inputs[0])[::-1] if inputs else [],
    "dict": lambda reader, inputs: {},
    "isinstance": _isinstance,
    "print": lambda reader, inputs: None,
    "repeat": lambda reader, inputs: UNKNOWN,
    "setattr": lambda reader, inputs: _instance_method(reader, inputs[0], "setattr", inputs[1:])
    if inputs and isinstance(inputs[0], Instance) else None,
    "getattr": lambda reader, inputs: reader.attribute(inputs[0], inputs[1])
    if len(inputs) > 1 and isinstance(inputs[1], str) else UNKNOWN,
}  # fmt: skip
