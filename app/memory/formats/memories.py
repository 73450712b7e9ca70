"""A list of memories as text: a head line, then `[id] text` entries, where a text may run over lines."""

import re

from app.memory.drafts import ItemDraft
from app.vocabulary import DEFAULT_SECTIONS, ItemKind

_MEMORY = re.compile(r"\[(?P<id>[a-z]+-\d+)\] ", re.ASCII)

MEMORY_SOURCE = re.compile(r"(?:In )?[A-Za-z]+ (?P<problem>L\d+_\d+)\b")
"""How a memory's first words name the problem that it was learned from."""


def read_memories(text: str) -> tuple[str, list[ItemDraft]]:
    """The head line and the memories, in the order shown."""
    head, *lines = text.split("\n")
    memories: list[ItemDraft] = []
    for number, line in enumerate(lines, start=2):
        entry = _MEMORY.match(line)
        if entry:
            memories.append(_draft(entry["id"], line[entry.end() :], number))
        elif memories:
            memories[-1].text += "\n" + (
                line[1:] if line.startswith("\\") and _MEMORY.match(line.lstrip("\\")) else line
            )
        else:
            head += "\n" + line
    return head, memories


def _draft(item_id: str, text: str, line: int) -> ItemDraft:
    section = DEFAULT_SECTIONS[ItemKind.MEMORY]
    return ItemDraft(kind=ItemKind.MEMORY, section=section, text=text, id=item_id, line=line)
