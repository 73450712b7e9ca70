"""Gaps in how Triton's interpreter calls kernels: closures, constexprs, names of builtins, arguments and grids."""

import ast
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

_PLACE = "triton.runtime.interpreter"
_LOOPS = ("range", "static_range")
"""Classes of triton.language, and no builtins, that the interpreter replaces while a kernel runs."""

_COPIED = ("__defaults__", "__kwdefaults__", "__annotations__")


class NamesOf:
    """A dict of names as an object, whose attributes are these names."""

    def __init__(self, space: dict[str, Any]) -> None:
        self.__dict__ = space


def shim_calls(language: Any, interpreter: Any) -> list[str]:
    """Fill the gaps; the names of what was filled. Where this version of triton lacks a name, its gap stays."""
    gaps = (
        ("FunctionRewriter._compile_and_exec", _keep_what_the_rewriter_loses),
        ("GridExecutor.__init__", _read_constexprs_and_grid),
        ("_patch_lang", _patch_names),
        ("_implicit_cvt", _convert_floats),
    )
    done = []
    for path, fill in gaps:
        try:
            fill(language, interpreter)
        except AttributeError:
            continue
        done.append(f"{_PLACE}.{path}")
    return done


def _keep_what_the_rewriter_loses(language: Any, interpreter: Any) -> None:
    """The rewriter runs a function's `def` anew at the module's top: what its factory knows is missing there."""
    rewriter, interpreted = interpreter.FunctionRewriter, _Builtins(language, interpreter)
    plain = rewriter._compile_and_exec

    def compile_and_exec(self: Any, tree: ast.Module) -> Any:
        _forget_signature(tree)
        function, rewritten = self.fn, plain(self, tree)
        captured = _captured(function)
        if captured:
            # A space of its own: another product of the factory holds other values under the same names.
            space = {**function.__globals__, **captured}
            rewritten = FunctionType(rewritten.__code__, space | interpreted.among(space), rewritten.__name__)
        for name in _COPIED:
            setattr(rewritten, name, getattr(function, name))
        return rewritten

    rewriter._compile_and_exec = compile_and_exec


def _forget_signature(tree: ast.Module) -> None:
    """Take away annotations, and what defaults are computed from: both are copied from the original function."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            node.args.defaults = [_none_at(default) for default in node.args.defaults]
            node.args.kw_defaults = [default and _none_at(default) for default in node.args.kw_defaults]
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                argument.annotation = None


def _none_at(expression: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(None), expression)


def _captured(function: Any) -> dict[str, Any]:
    """Values that a function has from the functions around it; a name without a value as yet is left out."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue
    return found


class _Builtins:
    """Builtins of triton.language under other names: the interpreter gives only those of its own modules a CPU form.

    Made before a kernel runs, while triton.language still holds what candidates import from it.
    """

    def __init__(self, language: Any, interpreter: Any) -> None:
        self._is_builtin, self._language, self._interpreter = language.core.is_builtin, language, interpreter
        names = vars(language).items()
        self._own = {id(value): name for name, value in names if name in _LOOPS or self._is_one(value)}
        if not self._own:
            raise AttributeError("builtins")

    def among(self, space: dict[str, Any]) -> dict[str, Callable[..., Any]]:
        """CPU forms of the builtins in a dict of names, under their names there."""
        found = {}
        for name, value in list(space.items()):
            if id(value) in self._own:
                found[name] = self._by_name(self._own[id(value)])
            elif self._is_one(value):
                found[name] = self._with_semantic(value)
        return found

    def _is_one(self, value: Any) -> bool:
        return isinstance(value, FunctionType) and bool(self._is_builtin(value))

    def _by_name(self, name: str) -> Callable[..., Any]:
        """What triton.language has under a name when it is called: some have other stand-ins than most."""
        return lambda *values, **options: getattr(self._language, name)(*values, **options)

    def _with_semantic(self, builtin: Callable[..., Any]) -> Callable[..., Any]:
        def form(*values: Any, **options: Any) -> Any:
            return builtin(*values, **{**options, "_semantic": self._interpreter.interpreter_semantic})

        return form


def _patch_names(language: Any, interpreter: Any) -> None:
    """Builtins that a candidate's module has by name, as after `from triton.language import exp` or `exp = tl.exp`."""
    plain, interpreted = interpreter._patch_lang, _Builtins(language, interpreter)

    def patch(function: Any) -> Any:
        scope = plain(function)
        # Functions that tl.reduce combines with run as they were written, in their module and not in a copy of it.
        module = sys.modules.get(function.__module__)
        for space in (function.__globals__, {} if module is None else vars(module)):
            for name, form in interpreted.among(space).items():
                scope.set_attr(NamesOf(space), name, form)
        return scope

    interpreter._patch_lang = patch


def _read_constexprs_and_grid(language: Any, interpreter: Any) -> None:
    """Constexprs under any spelling that Triton's compiler knows; lists as grids."""
    executor, constexpr = interpreter.GridExecutor, language.constexpr
    plain = executor.__init__

    def is_constexpr(annotation: Any) -> bool:
        return annotation is constexpr or (isinstance(annotation, str) and "constexpr" in annotation)

    def start(self: Any, fn: Any, arg_names: list[str], grid: Any, *others: Any, **options: Any) -> None:
        plain(self, fn, arg_names, grid, *others, **options)
        found = {name for name, annotation in fn.__annotations__.items() if is_constexpr(annotation)}
        self.constexprs = [name for name in arg_names if name in found or name in self.constexprs]
        self.grid = _grid_from(grid, language) if callable(grid) else _as_tuple(grid)

    executor.__init__ = start


def _grid_from(grid: Callable[[dict[str, Any]], Any], language: Any) -> Callable[[dict[str, Any]], Any]:
    """A grid function that is given plain numbers, as on the GPU, not the interpreter's scalars."""

    def number(value: Any) -> Any:
        is_number = isinstance(value, language.tensor) and not value.dtype.is_ptr()
        return value.handle.data.item() if is_number and value.handle.data.size == 1 else value

    return lambda values: _as_tuple(grid({name: number(value) for name, value in values.items()}))


def _as_tuple(grid: Any) -> Any:
    return tuple(grid) if isinstance(grid, list) else grid


def _convert_floats(language: Any, interpreter: Any) -> None:
    """A float argument is a float32 scalar on the GPU, with methods and types; the interpreter leaves Python's."""
    plain, handle = interpreter._implicit_cvt, interpreter.TensorHandle

    def convert(argument: Any) -> Any:
        if not isinstance(argument, float):
            return plain(argument)
        number = interpreter.np.array([argument], dtype=interpreter.np.float32)
        return language.tensor(handle(number, language.float32), language.float32)

    interpreter._implicit_cvt = convert
