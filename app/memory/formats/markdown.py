"""The playbook as Markdown, for people and for files that agents are given whole. It is written, never read back."""

import re
from collections.abc import Iterable, Iterator

from app.memory.figures import ratio
from app.memory.formats.rules import EXPORTED
from app.records import Item
from app.vocabulary import ItemKind

_TITLES = {
    ItemKind.BULLET: "Strategies",
    ItemKind.LESSON: "Lessons",
    ItemKind.PITFALL: "Pitfalls",
    ItemKind.RECIPE: "Recipes",
    ItemKind.MEMORY: "Memories",
    ItemKind.KERNEL: "Kernels",
}
_CODE_SPAN = re.compile(r"(`+[^`]*`+)")
_HTML = re.compile(r"<(?=[A-Za-z/!?])")


def write(items: Iterable[Item], version: int) -> Iterator[str]:
    """Lines of a Markdown document: a chapter for each kind, a list for each section, in the playbook's order."""
    yield f"{EXPORTED}, corpus version {version}. For reading: import the JSON lines instead. -->\n\n# Playbook\n"
    ordered = sorted(items, key=lambda item: (list(_TITLES).index(item.kind), item.position, item.id))
    by_kind = {kind: [item for item in ordered if item.kind is kind] for kind in _TITLES}
    for kind, members in by_kind.items():
        if members:
            yield f"\n## {_TITLES[kind]}\n"
        for section in dict.fromkeys(item.section for item in members):
            yield f"\n### {_plain(section)}\n\n"
            yield from (_entry(item) for item in members if item.section == section)


def _entry(item: Item) -> str:
    """One list item; everything below its first line is indented, so that no text can begin a new one."""
    said = [f"+{item.helpful} -{item.harmful}"]
    if item.claimed_speedup is not None:
        said.append(f"claimed {ratio(item.claimed_speedup)}x")
    if item.source_problem:
        said.append(f"on {_plain(item.source_problem)}")
    lines = f"**{item.id}** ({', '.join(said)}) {_plain(item.text)}".split("\n")
    if item.kernel is not None:
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", item.kernel.source)), default=0))
        lines += ["", f"{fence}python", *item.kernel.source.split("\n"), fence]
    first, *rest = lines
    return "\n".join([f"- {first}", *(f"  {line}".rstrip() for line in rest)]) + "\n"


def _plain(text: str) -> str:
    """Text in which nothing reads as HTML; code spans stay as they are."""
    parts = _CODE_SPAN.split(text)
    return "".join(part if number % 2 else _HTML.sub("&lt;", part) for number, part in enumerate(parts))
