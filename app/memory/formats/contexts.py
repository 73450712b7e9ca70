"""Grammar of one rendered kernel memory: sections, items, tags and code, without knowing their wording."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

_TAG = re.compile(
    r"\[(?:(?P<speedup>\d+(?:\.\d+)?)x|verified) on (?P<name>[^;\]]+)"
    r"(?:; you alone: (?P<estimated>est\. )?(?P<solo>\d+(?:\.\d+)?)x)?\] "
)
_KERNEL_LABEL = re.compile(
    r"\((?P<label>(?P<id>[A-Za-z0-9]+_\d+) (?P<name>[^,;()]+?)(?:, (?P<speedup>\d+(?:\.\d+)?)x)?"
    r"(?:; you alone: (?P<estimated>est\. )?(?P<solo>\d+(?:\.\d+)?)x)?)\)"
)
_FENCED = re.compile(r"(?P<fence>`{3,})python\n(?P<code>.*)\n(?P=fence)\Z", re.DOTALL)


class NotAContext(ValueError):
    """The text does not follow the grammar; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claimed speedup with its source, and what the reader reaches alone there, as printed (ratios)."""

    problem_name: str
    problem_id: str | None = None
    speedup: Decimal | None = None
    solo: Decimal | None = None
    solo_estimated: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A recipe's text or a kernel's code, with its claim."""

    claim: Claim
    text: str


@dataclass(slots=True)
class Section:
    """A titled list of texts (lessons, pitfalls) or of entries (recipes, kernels)."""

    title: str
    texts: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


@dataclass(slots=True)
class ParsedContext:
    """The parts of one rendered kernel memory; a part that is missing is None or empty."""

    head: str
    guide: str | None = None
    lessons: Section | None = None
    pitfalls: Section | None = None
    recipes: Section | None = None
    kernels: list[Section] = field(default_factory=list)
    """One section, with one entry, for each kernel."""


def parse_context(text: str) -> ParsedContext:
    """Parts of a rendered kernel memory; raises NotAContext where the text follows another grammar."""
    head, *sections = _sections(text)
    context = ParsedContext(head=head)
    for section in sections:
        title, _, body = section.partition("\n")
        if _FENCED.search(body):
            context.kernels.append(_kernel(title, body))
        elif not body.startswith("- "):
            context.guide = section
        elif _TAG.match(body.removeprefix("- ")):
            context.recipes = Section(title, entries=[_recipe(line) for line in _items(body)])
        elif "lesson" in title.lower():
            context.lessons = Section(title, texts=list(_items(body)))
        elif "pitfall" in title.lower():
            context.pitfalls = Section(title, texts=list(_items(body)))
        else:
            raise NotAContext(f"cannot tell what the section {title[:80]!r} holds")
    return context


def _sections(text: str) -> Iterator[str]:
    """The head, then each section that begins with `### ` after a blank line, outside code fences."""
    current: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = re.match(r"`{3,}", line)
        if mark and (not fence or line == fence):
            fence = "" if fence else mark[0]
        if not fence and line.startswith("### ") and len(current) > 1 and current[-1] == "":
            yield "\n".join(current[:-1])
            current = []
        current.append(line)
    yield "\n".join(current)


def _items(body: str) -> Iterator[str]:
    """The texts of a list; a line that is indented by two spaces goes on with the text above it."""
    current: list[str] = []
    for line in body.split("\n"):
        if line.startswith("- "):
            if current:
                yield "\n".join(current)
            current = [line.removeprefix("- ")]
        elif line.startswith("  ") and current:
            current.append(line.removeprefix("  "))
        else:
            raise NotAContext(f"the line {line[:80]!r} is neither a list item nor the continuation of one")
    yield "\n".join(current)


def _recipe(line: str) -> Entry:
    tag = _TAG.match(line)
    if tag is None:
        raise NotAContext(f"the recipe {line[:80]!r} has no tag such as '[1.20x on NAME]'")
    return Entry(_claim(tag, None), line[tag.end() :])


def _kernel(title: str, body: str) -> Section:
    label = _KERNEL_LABEL.search(title)
    fenced = _FENCED.match(body)
    if label is None or fenced is None:
        raise NotAContext(f"the kernel section {title[:80]!r} has no '(ID NAME, 1.20x)' or no python code block")
    claim = _claim(label, label["id"])
    return Section(title.replace(label["label"], "{kernel}"), entries=[Entry(claim, fenced["code"])])


def _claim(match: re.Match[str], problem_id: str | None) -> Claim:
    return Claim(
        problem_name=match["name"],
        problem_id=problem_id,
        speedup=Decimal(match["speedup"]) if match["speedup"] else None,
        solo=Decimal(match["solo"]) if match["solo"] else None,
        solo_estimated=bool(match["estimated"]),
    )
