"""Names of the kernels that a CUDA C++ candidate declares, read from the strings of its syntax tree.

Macros that declare kernels are expanded. A name of which a part is known only at run time becomes a pattern (`relu_*`),
where enough of it is known. Every step takes time linear in the source.
"""

import ast
import re
from dataclasses import dataclass
from itertools import zip_longest

from app.verification.joined_strings import HOLE, JoinedStrings

LEAST_LITERAL = 3
"""A pattern with fewer known characters would fit too many kernels and is dropped."""

_MOST_EXPANDED = 1_000_000
_LONGEST_HEAD = 2_000
_LONGEST_RETURN = 80
_ROUNDS = 4
_GLOBAL = "__global__"
_PLACEHOLDER = re.compile(r"@\w+@|\$\{\w+\}|\$\w+|\{\w+\}|(?<=\w)\{\}|\{\}(?=\w)|%\(\w+\)s|%[sd]")
_SPLICE = re.compile(r"\\\r?\n")
_COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*"?|'\\?[^\n]')|//[^\n]*|/\*.*?(?:\*/|\Z)""", re.DOTALL)
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\(([^()\n]{0,500})\))?([^\n]*)$", re.MULTILINE)
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_PASTE = re.compile(r"[ \t]*##[ \t]*")
_OPENING = re.compile(r"\s*\(")
_LIST_MARK = re.compile(r"[(),]")
_TOKEN = re.compile(r"[\w\0]+|[^\w\s]", re.ASCII)
_RETURN_BEFORE = re.compile(r"\b(?:void|auto)\b[^;{}]*\Z")
_RETURNS = ("void", "auto", "enable_if", "enable_if_t")
_NEVER_NAMES = frozenset(
    [*_RETURNS, "static", "inline", "extern", "const", "constexpr", "noexcept", "alignas", "decltype", "typename"]
)
_ATTRIBUTE = re.compile(r"__\w+__", re.ASCII)
_KEYWORD = re.compile(r"\b__global__\b")
_PATTERN = re.compile(r"[A-Za-z_*][\w*]*", re.ASCII)
_NAME = re.compile(r"[A-Za-z_\0][\w\0]*", re.ASCII)


def cuda_kernels(nodes: list[ast.AST]) -> list[str]:
    """Names and patterns, each once. `nodes` are those of a whole tree, outer ones first. Raises nothing."""
    found: dict[str, None] = {}
    for text, is_template in JoinedStrings(nodes).texts(_GLOBAL):
        names = _kernels_of(text)
        found |= dict.fromkeys(name for name in names if not (is_template and "*" in name))
    return list(found)


def _kernels_of(text: str) -> list[str]:
    """Names that one CUDA C++ text declares, its macros expanded; patterns where a part of the name is a hole."""
    plain = _COMMENT.sub(lambda found: found[1] or " ", _SPLICE.sub(" ", text))
    plain = _PLACEHOLDER.sub(HOLE, plain)
    defined = {found[1]: _Macro(found[2], found[3][:_LONGEST_HEAD]) for found in _DEFINE.finditer(plain)}
    macros = _kernel_macros(defined)
    code = _DEFINE.sub(lambda found: " " if found[1] in macros else found[0], plain) if macros else plain
    expanded = _expanded(code, macros)
    used = set(_WORD.findall(code)).difference(_WORD.findall(expanded)) if macros else set()
    heads = [expanded, *(macro.filled([]) for name, macro in macros.items() if name not in used)]
    named = [defined[name].body.strip() if name in defined else name for head in heads for name in _declared(head)]
    patterns = [re.sub("\0+", "*", name) for name in named]
    known = {pattern: len(pattern.replace("*", "")) for pattern in patterns if _PATTERN.fullmatch(pattern)}
    return [pattern for pattern, size in known.items() if "*" not in pattern or size >= LEAST_LITERAL]


@dataclass(frozen=True)
class _Macro:
    """A `#define`: its list of parameters, None where it has none, and the start of its body."""

    parameters: str | None
    body: str

    def filled(self, arguments: list[str]) -> str:
        """The body with the arguments in place; a missing one is a hole."""
        names = [name.strip() for name in (self.parameters or "").split(",")]
        given = dict(zip_longest(names, arguments[: len(names)], fillvalue=HOLE))
        return _PASTE.sub("", _WORD.sub(lambda found: given.get(found[0], found[0]), self.body))


def _kernel_macros(defined: dict[str, _Macro]) -> dict[str, _Macro]:
    """Those whose body has the word `__global__`, or another such macro."""
    chosen = {name for name, macro in defined.items() if _GLOBAL in macro.body}
    for _ in range(_ROUNDS if chosen else 0):
        chosen |= {name for name, macro in defined.items() if not chosen.isdisjoint(_WORD.findall(macro.body))}
    return {name: macro for name, macro in defined.items() if name in chosen}


def _expanded(code: str, macros: dict[str, _Macro]) -> str:
    """The code with the uses of macros replaced, macros within macros too, up to a limit of added text."""
    left = _MOST_EXPANDED
    for _ in range(_ROUNDS if macros else 0):
        done, pieces = 0, []
        for found in _WORD.finditer(code):
            macro = macros.get(found[0])
            if macro is None or found.start() < done or left < 0:
                continue
            arguments, end = _arguments(code, found.end()) if macro.parameters is not None else ([], found.end())
            left -= max(end - found.start(), _LONGEST_HEAD)
            if end:
                pieces += [code[done : found.start()], macro.filled(arguments)]
                left -= len(pieces[-1])
                done = end
        code = "".join([*pieces, code[done:]])
    return code


def _arguments(code: str, start: int) -> tuple[list[str], int]:
    """What stands in the parentheses that open at the start, and where they end: 0 if they do not."""
    opening = _OPENING.match(code, start)
    depth, last, arguments = 1, opening.end() if opening else start, []
    for mark in _LIST_MARK.finditer(code, last, last + _LONGEST_HEAD) if opening else ():
        if mark[0] != "(" and depth == 1:
            arguments.append(code[last : mark.start()].strip())
            last = mark.end()
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0:
            return arguments, last
    return [], 0


def _declared(code: str) -> list[str]:
    """The name that follows each `__global__`, with its holes."""
    names = []
    for found in _KEYWORD.finditer(code):
        returns = _RETURN_BEFORE.search(code, max(0, found.start() - _LONGEST_RETURN), found.start())
        names.append(_name_after(code, found.end(), has_type=returns is not None))
    return names


def _name_after(code: str, start: int, has_type: bool) -> str:
    """The name of the kernel whose declaration goes on here; empty if none is declared.

    It is the word before the list of parameters. What else has parentheses is an attribute: a word of the language or
    compiler, or a macro that comes before the type or is followed by another word with parentheses.
    """
    name, word, depth = "", "", 0
    for token in (found[0] for found in _TOKEN.finditer(code, start, start + _LONGEST_HEAD)):
        if token in (_GLOBAL, ";", "{", "}"):
            break
        if depth:
            depth += (token in "([") - (token in ")]")
        elif token in "([":
            name = word if token == "(" and word and has_type else name
            word, depth = "", 1
        elif name and (word or not _NAME.fullmatch(token)):
            break
        else:
            has_type = has_type or token in _RETURNS or token == HOLE
            is_name = _NAME.fullmatch(token) and token not in _NEVER_NAMES and not _ATTRIBUTE.fullmatch(token)
            word = token if is_name else ""
    return name
