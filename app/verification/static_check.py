"""Reading a candidate without running it: few rules reject, many findings inform, kernels are named.

Works on the syntax tree alone: words in strings, comments and names prove nothing.
"""

import ast
import codecs
import io
import threading
import tokenize
from dataclasses import dataclass, field

from app.verification.declared_kernels import cuda_kernels
from app.verification.protocol import MAX_SOURCE_BYTES

_JIT_NAMES = ("jit", "autotune", "heuristics")
_MOST_PARTS = 8
_ALLOWED_DUNDERS = ("__init__", "__name__", "__version__")
_FLAGGED_CALLS = ("setattr", "delattr", "exec", "eval", "compile", "__import__", "globals", "vars", "open")
_FLAGGED_MODULES = (
    "ctypes", "subprocess", "socket", "threading", "_thread", "multiprocessing", "gc", "inspect", "sys", "importlib",
    "signal", "pickle", "app", "atexit",
)  # fmt: skip
_FLAGGED_ATTRIBUTES = (
    "torch.compile", "torch.jit.script", "torch.cuda.Stream", "torch.cuda.stream", "torch.set_float32_matmul_precision",
    "torch.cuda.CUDAGraph", "torch.cuda.graph", "os.fork", "os.system", "os._exit", "sys.exit",
)  # fmt: skip


@dataclass(frozen=True)
class StaticReport:
    """What was read. `rejections` and `flags` carry their line; `kernels` are names declared in Triton or CUDA C++.

    A name of CUDA C++ of which a part is known only at run time has a `*` in its place.

    `language` is `triton`, `cuda` or empty. `unreadable` tells of a source that Python cannot parse.
    `asks_for_gpu` tells that the source looks whether there is one, or whether a tensor lies there.
    """

    rejections: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    kernels: list[str] = field(default_factory=list)
    language: str = ""
    unreadable: str = ""
    asks_for_gpu: bool = False


def check_source(raw: bytes, entry_point: str = "ModelNew") -> StaticReport:
    """Read the candidate's bytes. Never raises: what cannot be read is rejected or reported as unreadable."""
    if len(raw) > MAX_SOURCE_BYTES:
        return StaticReport(rejections=[f"source of more than {MAX_SOURCE_BYTES} bytes"])
    try:
        text = source_text(raw)
    except UnicodeDecodeError as fault:
        return StaticReport(rejections=[f"source is not UTF-8 at byte {fault.start}"])
    if _reads_otherwise(raw, text):
        return StaticReport(rejections=["the encoding that the source declares is not UTF-8"])
    try:
        with _PARSING:
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
        return StaticReport(unreadable=f"{type(fault).__name__}: {fault}")
    nodes = list(ast.walk(tree))
    reading = _Reading(_TritonNames(nodes))
    reading.rejections += _non_ascii(text)
    for node in nodes:
        reading.look_at(node)
    classes = {node.name: node.lineno for node in nodes if isinstance(node, ast.ClassDef)}
    if entry_point not in classes:
        reading.rejections.append(f"no class {entry_point}")
    if "Model" in classes:
        reading.rejections.append(f"a class named Model in line {classes['Model']}")
    cuda, triton = cuda_kernels(nodes), list(dict.fromkeys(reading.triton))
    is_cuda = cuda or (not triton and any(map(_has_cuda, nodes)))
    language = "cuda" if is_cuda else "triton" if triton else ""
    return StaticReport(
        rejections=reading.rejections,
        flags=sorted(set(reading.flags)),
        kernels=[*triton, *cuda],
        language=language,
        asks_for_gpu=any(map(_asks_for_gpu, nodes)),
    )


def source_text(raw: bytes) -> str:
    """What Python reads in a file of these bytes: UTF-8, without the mark that some editors put first."""
    return raw.decode("utf-8-sig")


def _reads_otherwise(raw: bytes, text: str) -> bool:
    """Whether Python would read another program, for an encoding that is declared in the first two lines."""
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        return str(codecs.decode(raw, name)) != text
    except (SyntaxError, LookupError, ValueError, TypeError):
        return True


def _non_ascii(text: str) -> list[str]:
    """Non-ASCII characters outside comments: names and strings that look like others. Comments may use any letter."""
    if text.isascii():
        return []
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return ["non-ASCII source"]
    lines = [t.start[0] for t in tokens if t.type != tokenize.COMMENT and not t.string.isascii()]
    return [f"non-ASCII source in line {lines[0]}"] if lines else []


class _Reading:
    """Collects findings node by node."""

    def __init__(self, names: "_TritonNames") -> None:
        self.rejections: list[str] = []
        self.flags: list[str] = []
        self.triton: list[str] = []
        self._names = names

    def look_at(self, node: ast.AST) -> None:
        match node:
            case ast.FunctionDef(name=name, decorator_list=decorators) if any(map(self._names.is_jit, decorators)):
                self.triton.append(name)
            case ast.Call():
                self._call(node)
            case ast.Attribute():
                self._attribute(node)
            case ast.Import(names=names):
                self._imports([alias.name for alias in names], node.lineno)
            case ast.ImportFrom(module=module, names=names):
                self._imports([module or ""], node.lineno)
                self._private_imports([alias.name for alias in names], node.lineno)

    def _call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == "getattr" and len(node.args) >= 2:
            wanted = node.args[1]
            if not (isinstance(wanted, ast.Constant) and isinstance(wanted.value, str)):
                self.rejections.append(f"getattr with a computed name in line {node.lineno}")
            elif wanted.value.startswith("_"):
                self.rejections.append(f"getattr of the private name {wanted.value} in line {node.lineno}")
        elif name in _FLAGGED_CALLS:
            self.flags.append(f"call:{name}@{node.lineno}")
        if self._names.is_jit(node.func) and node.args and isinstance(node.args[0], ast.Name):
            self.triton.append(node.args[0].id)

    def _attribute(self, node: ast.Attribute) -> None:
        on_self = isinstance(node.value, ast.Name) and node.value.id == "self"
        if not isinstance(node.ctx, ast.Load) and not on_self:
            self.rejections.append(f"assignment to the attribute {node.attr} of something else in line {node.lineno}")
        is_dunder = node.attr.startswith("__") and node.attr.endswith("__")
        if node.attr.startswith("_") and node.attr not in _ALLOWED_DUNDERS and (is_dunder or not on_self):
            self.rejections.append(f"the private attribute {node.attr} in line {node.lineno}")
        dotted = ".".join(_dotted(node)) if node.attr in _LAST_WORDS else ""
        if dotted in _FLAGGED_ATTRIBUTES:
            self.flags.append(f"use:{dotted}@{node.lineno}")

    def _imports(self, names: list[str], line: int) -> None:
        for name in names:
            if name.split(".")[0] in _FLAGGED_MODULES:
                self.flags.append(f"import:{name}@{line}")
        self._private_imports(names, line)

    def _private_imports(self, names: list[str], line: int) -> None:
        for name in names:
            if any(part.startswith("_") and part != "__future__" for part in name.split(".")):
                self.rejections.append(f"import of the private name {name} in line {line}")


_PARSING = threading.Lock()
"""CPython 3.11 keeps the depth of syntax trees under construction per interpreter: two threads at once upset it."""

_LAST_WORDS = frozenset(name.rsplit(".", 1)[1] for name in _FLAGGED_ATTRIBUTES)


class _TritonNames:
    """Which names of a source stand for the decorators of Triton, whatever they were imported or assigned as."""

    def __init__(self, nodes: list[ast.AST]) -> None:
        self._meanings = {"triton": "triton"}
        for node in nodes:
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        root = alias.name.split(".")[0]
                        self._meanings[alias.asname or root] = alias.name if alias.asname else root
                case ast.ImportFrom(module=str(module), names=names, level=0):
                    for alias in names:
                        taken = _JIT_NAMES if alias.name == "*" and _is_triton(module) else (alias.name,)
                        self._meanings |= {alias.asname or name: f"{module}.{name}" for name in taken}
        for node in nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=(ast.Name() | ast.Attribute()) as value):
                    if self.is_jit(value):
                        self._meanings.setdefault(name, self._meaning(value))

    def is_jit(self, decorator: ast.expr) -> bool:
        """Whether it is `jit`, `autotune` or `heuristics` of Triton, called or not."""
        while isinstance(decorator, ast.Call):
            decorator = decorator.func
        meaning = self._meaning(decorator)
        return _is_triton(meaning) and meaning.rsplit(".", 1)[-1] in _JIT_NAMES

    def _meaning(self, node: ast.expr) -> str:
        """The dotted name with its first part resolved; empty if it is no name."""
        first, *others = _dotted(node) or [""]
        return ".".join([self._meanings[first], *others]) if first in self._meanings else ""


def _dotted(node: ast.expr) -> list[str]:
    """The parts of a dotted name; none if it is no such name, or one longer than any that matters."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < _MOST_PARTS:
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []


def _has_cuda(node: ast.AST) -> bool:
    """Whether a string holds CUDA C++, even if no name can be read in it."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and "__global__" in node.value


def _asks_for_gpu(node: ast.AST) -> bool:
    """`tensor.is_cuda`, `torch.cuda.is_available()`, or a comparison with the word "cuda" or "cpu"."""
    if isinstance(node, ast.Compare):
        return any(isinstance(one, ast.Constant) and one.value in ("cuda", "cpu") for one in node.comparators)
    return isinstance(node, ast.Attribute) and (
        node.attr in ("is_cuda", "is_cpu") or _dotted(node) == ["torch", "cuda", "is_available"]
    )


def _is_triton(dotted: str) -> bool:
    return dotted.split(".", 1)[0] == "triton"
