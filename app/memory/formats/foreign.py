"""What the files of other memory systems have in common: ids of their own, and texts that are there twice."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.memory.drafts import DocumentDraft, ItemDraft
from app.memory.identity import normalised, text_hash
from app.records import LineFault

LONGEST_TEXT = 100_000
"""Characters of one item's text."""


@dataclass(slots=True)
class Gathering:
    """Drafts of one foreign file. The same text under several ids is one item, with its votes added and all its ids."""

    file: str
    origin: str
    draft: DocumentDraft = field(init=False)
    _by_text: dict[str, ItemDraft] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.draft = DocumentDraft(self.file)

    def take(self, item: ItemDraft, source_id: str | None, facts: Mapping[str, Any]) -> None:
        """Takes an item; `facts` are what its source says beside the text, and travel as provenance."""
        item.text = normalised(item.text)
        if not item.text:
            self.fault(item.line, f"{source_id or 'the entry'} has no text")
            return
        if len(item.text) > LONGEST_TEXT:
            self.fault(item.line, f"{source_id or 'the entry'} is longer than {LONGEST_TEXT} characters")
            return
        twin = self._by_text.setdefault(text_hash(item.text), item)
        if twin is not item:
            self._repeat(twin, item, source_id)
            return
        item.source_ids = (source_id,) if source_id else ()
        item.provenance = {"origin": self.origin, "file": self.file, **_stated(facts)}
        self.draft.items.append(item)

    def fault(self, line: int, reason: str, *, taken: bool = False) -> None:
        """Notes what was not taken, or was taken with a remark."""
        self.draft.faults.append(LineFault(self.file, line, reason, taken=taken))

    def _repeat(self, twin: ItemDraft, item: ItemDraft, source_id: str | None) -> None:
        twin.helpful += item.helpful
        twin.harmful += item.harmful
        known = twin.source_ids[0] if twin.source_ids else f"the one of line {twin.line}"
        if source_id:
            twin.source_ids = (*twin.source_ids, source_id)
        self.fault(item.line, f"{source_id or 'the entry'} says the same as {known}: one item, votes added", taken=True)


def line_of(content: str, needle: str, start: int = 0) -> int:
    """The line, from 1, where a text first stands in a file; 0 where it does not stand there as such."""
    place = content.find(needle, start)
    return content.count("\n", 0, place) + 1 if place >= 0 else 0


def count_of(value: object) -> int | None:
    """A counter as a whole number of votes, or None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or not 0 <= value < 1e9:
        return None
    return int(value) if value == int(value) else None


def _stated(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value not in (None, [], {}, "")}
