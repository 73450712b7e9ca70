"""Rules files that people keep for their agents: CLAUDE.md, AGENTS.md, .cursorrules and their like.

Each outer list item is an item, with everything indented below it; a paragraph outside lists is one, too. A paragraph
that ends in a colon leads into the list below it and goes in front of each of its items, since it often says when they
hold. Headings become sections. Nobody has measured these rules, so all of them wait as pending.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from app.memory.drafts import DocumentDraft, ItemDraft
from app.memory.formats.foreign import Gathering
from app.vocabulary import DEFAULT_SECTIONS, ItemKind, ItemStatus

ORIGIN = "rules file"
NAMES = {"claude.md", "claude.local.md", "agents.md", "gemini.md", "copilot-instructions.md", "conventions.md"}
NAMES |= {".cursorrules", ".windsurfrules", ".clinerules", ".rules"}
SUFFIXES = (".mdc", ".rules.md")
EXPORTED = "<!-- Exported by Kernel Playbook"
"""How a Markdown export begins; it is for reading, and importing it would only propose what is there already."""

_HEADING = re.compile(r"(?P<marks>#{1,6})\s+(?P<title>.+?)\s*#*\s*\Z")
_ITEM = re.compile(r"(?P<mark>[-*+]|\d{1,4}[.)])(?P<gap>\s+)(?:\[[ xX]\]\s+)?(?P<text>\S.*)\Z")
_FENCE = re.compile(r"\s*(?P<fence>`{3,}|~{3,})")
_REFERENCE = re.compile(r"@[\w./~-]+\Z")
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(slots=True)
class _Block:
    """A list item or a paragraph, with the heading path and the lead-in above it."""

    line: int
    listed: bool
    indent: int
    path: tuple[str, ...]
    lead: str = ""
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        first, *rest = self.lines
        inner = [line[self.indent :] if not line[: self.indent].strip() else line.lstrip() for line in rest]
        return "\n".join([first, *inner]).strip()


def read(content: str, file: str) -> DocumentDraft:
    """Every rule of a file, as a pending item; what is not a rule is named with its line."""
    gathering = Gathering(file, ORIGIN)
    lead = ""
    for block in _blocks(_without_comments(content)):
        text = block.text
        if not block.listed:
            lead = ""
            if _REFERENCE.match(text):
                gathering.fault(block.line, f"{text} refers to another file; import that one by itself", taken=True)
                continue
            if text.endswith(":") and "\n" not in text:
                lead = text
                continue
        item = ItemDraft(
            kind=ItemKind.BULLET,
            section=(block.path[-1] if block.path else DEFAULT_SECTIONS[ItemKind.BULLET])[:200],
            text=f"{lead} {text}" if lead and block.listed else text,
            status=ItemStatus.PENDING,
            line=block.line,
        )
        gathering.take(item, None, {"heading": " > ".join(block.path)})
    if not gathering.draft.items and not gathering.draft.faults:
        gathering.fault(1, "the file holds no list item and no paragraph")
    return gathering.draft


def _without_comments(content: str) -> str:
    """The text without front matter and HTML comments; every line keeps its number."""
    content = content.removeprefix("\ufeff").replace("\r\n", "\n")
    for pattern in (_FRONT, _COMMENT):
        content = pattern.sub(lambda match: "\n" * match[0].count("\n"), content)
    return content


def _blocks(content: str) -> Iterator[_Block]:
    path: list[str] = []
    block: _Block | None = None
    fence = ""
    blank = True
    for number, line in enumerate(content.split("\n"), start=1):
        mark = _FENCE.match(line)
        begins = None if fence else _begins(line, number, block, blank, tuple(path))
        heading = None if fence or mark else _HEADING.match(line)
        if mark and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else mark["fence"]
        if heading or begins is not None:
            if block is not None:
                yield block
            block = begins
        if heading:
            path = [*path[: len(heading["marks"]) - 1], heading["title"]]
            block = None
        elif begins is None and block is not None:
            block.lines.append(line.rstrip())
        blank = not line.strip()
    if block is not None:
        yield block


def _begins(line: str, number: int, block: _Block | None, blank: bool, path: tuple[str, ...]) -> _Block | None:
    """The block that begins at a line, or None where the line goes on with the one above, or is blank."""
    bare = line.lstrip()
    indent = len(line) - len(bare)
    item = _ITEM.match(bare)
    if item and (block is None or not block.listed or indent < block.indent):
        inner = indent + len(item["mark"]) + len(item["gap"])
        return _Block(number, True, inner, path, lines=[item["text"].rstrip()])
    outside = block is None or (blank and (not block.listed or indent < block.indent))
    if bare and outside and not _HEADING.match(line):
        return _Block(number, False, indent, path, lines=[bare.rstrip()])
    return None
