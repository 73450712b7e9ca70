"""The strings of a syntax tree, put together as the source puts them together, without running it.

A part that is known only at run time is a hole. Every step takes time linear in the source, and all work is bounded.
"""

import ast
import re
from collections import Counter

HOLE = "\0"
"""Stands in a text for what is known only at run time."""

_MOST_JOINED = 4_000_000
_DEEPEST = 40
_TextNode = ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call
_SAME_TEXT = ("strip", "lstrip", "rstrip", "encode", "decode")
_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_PERCENT = re.compile(r"%(?:\((\w+)\))?[-#0-9 +.*]*[a-zA-Z%]")


class JoinedStrings:
    """Joins the strings of a tree. A name that is assigned once stands for what it is assigned.

    `nodes` are those of a whole tree, outer ones first.
    """

    def __init__(self, nodes: list[ast.AST]) -> None:
        self._nodes = nodes
        self._bound = _bound_once(nodes)
        self._known: dict[str, str | None] = {}
        self._parts: set[int] = set()
        self._templates: set[int] = set()
        self._left = _MOST_JOINED

    def texts(self, word: str) -> list[tuple[str, bool]]:
        """Each text that has the word, and whether it is a template that another text was made of."""
        found: dict[int, str] = {}
        for node in self._nodes:
            if isinstance(node, _TextNode) and id(node) not in self._parts:
                text = self._text(node)
                if text is not None and word in text:
                    found[id(node)] = text
        return [(text, key in self._templates) for key, text in found.items()]

    def _text(self, node: ast.expr, depth: int = 0) -> str | None:
        """What the expression yields, with holes; None if it is no text or too long or deep to be followed."""
        if depth > _DEEPEST or self._left < 0:
            return None
        text: str | None = None
        match node:
            case ast.Constant(value=str(value)):
                text = value
            case ast.Constant(value=bytes(data)):
                text = data.decode("latin-1")
            case ast.JoinedStr(values=values):
                text = "".join(self._inserted(value, depth) for value in values)
            case ast.BinOp(op=ast.Add()):
                text = self._sum(node, depth)
            case ast.BinOp(op=ast.Mod(), left=left, right=right):
                template = self._part(left, depth)
                text = template and self._percent(template, right, depth)
            case ast.Call(func=ast.Attribute(value=value, attr=method)):
                text = self._method(value, method, node, depth)
            case ast.Name(id=name):
                text = self._named(name, depth)
        return text if text is not None and self._spend(len(text)) else None

    def _spend(self, size: int) -> bool:
        """Whether a text of this size may still be made."""
        self._left -= size + 1
        return self._left >= 0

    def _part(self, node: ast.expr, depth: int) -> str | None:
        text = self._text(node, depth + 1)
        if text is not None:
            self._parts.add(id(node))
        return text

    def _named(self, name: str, depth: int) -> str | None:
        if name not in self._known and name in self._bound:
            self._known[name] = None
            self._known[name] = self._text(self._bound[name], depth + 1)
        if self._known.get(name) is not None:
            self._templates.add(id(self._bound[name]))
        return self._known.get(name)

    def _inserted(self, node: ast.expr, depth: int) -> str:
        """What an expression adds to a text: a number or a text that is known, or a hole."""
        match node:
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self._inserted(value, depth)
            case ast.Constant(value=int(number)):
                return str(number)
            case ast.Name(id=name):
                bound = self._bound.get(name)
                if isinstance(bound, ast.Constant) and isinstance(bound.value, int):
                    return str(bound.value)
        text = self._part(node, depth)
        return HOLE if text is None else text

    def _sum(self, node: ast.expr, depth: int) -> str | None:
        """A sum of any length: its left side is followed without recursion."""
        terms: list[ast.expr] = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            self._parts.add(id(node))
            terms.append(node.right)
            node = node.left
        known = [self._part(term, depth) for term in [node, *reversed(terms)]]
        joined = "".join(HOLE if text is None else text for text in known)
        return joined if joined.strip(HOLE) else None

    def _method(self, value: ast.expr, method: str, call: ast.Call, depth: int) -> str | None:
        match method, call.args:
            case "format", inserted:
                template = self._part(value, depth)
                in_order = [self._inserted(argument, depth) for argument in inserted if template]
                by_name = {
                    word.arg: self._inserted(word.value, depth) for word in call.keywords if word.arg and template
                }
                by_name |= {str(place): text for place, text in enumerate(in_order)}
                return template and self._filled(_BRACES, template, by_name, in_order)
            case "replace", [old, new, *_]:
                text, mark = self._part(value, depth), self._part(old, depth)
                instead = self._inserted(new, depth) if text and mark and mark in text else ""
                may = text and mark and self._spend(text.count(mark) * len(instead))
                return text.replace(mark, instead) if text and mark and may else text
            case "join", [ast.List(elts=items) | ast.Tuple(elts=items)]:
                between, pieces = self._part(value, depth) or "", [self._inserted(item, depth) for item in items]
                return between.join(pieces) if self._spend(len(between) * len(pieces)) else None
            case "dedent", [only]:
                return self._part(only, depth)
        return self._part(value, depth) if method in _SAME_TEXT else None

    def _percent(self, template: str, values: ast.expr, depth: int) -> str:
        by_name: dict[str, str] = {}
        if isinstance(values, ast.Dict):
            pairs = zip(values.keys, values.values, strict=True)
            by_name = {str(key.value): self._inserted(v, depth) for key, v in pairs if isinstance(key, ast.Constant)}
        inserted = values.elts if isinstance(values, ast.Tuple) else [] if by_name else [values]
        return self._filled(_PERCENT, template, by_name, [self._inserted(value, depth) for value in inserted])

    def _filled(self, marks: re.Pattern[str], text: str, by_name: dict[str, str], rest: list[str]) -> str:
        """The text with its marks replaced: the named by their name, the others in order."""
        in_order = iter(rest)

        def instead(found: re.Match[str]) -> str:
            if found[0] in ("{{", "}}", "%%"):
                return found[0][0]
            given = by_name.get(found[1], HOLE) if found[1] else next(in_order, HOLE)
            return given if self._spend(len(given)) else HOLE

        return marks.sub(instead, text)


def _bound_once(nodes: list[ast.AST]) -> dict[str, ast.expr]:
    """What each name is assigned, where it is assigned once in the whole source and is no parameter."""
    stored = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    stored.update(node.arg for node in nodes if isinstance(node, ast.arg))
    assigned = [(node.targets[0], node.value) for node in nodes if isinstance(node, ast.Assign)]
    assigned += [(node.target, node.value) for node in nodes if isinstance(node, ast.AnnAssign) and node.value]
    return {name.id: value for name, value in assigned if isinstance(name, ast.Name) and stored[name.id] == 1}
