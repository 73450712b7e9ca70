"""One thing that a curator should look at."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from app.memory.identity import content_hash
from app.records import Item
from app.vocabulary import FindingKind

KEY_LENGTH = 32
"""Characters of a key: 128 bits, far more than enough to tell the findings of one corpus apart."""

QUOTED = 160
"""Most characters of one quotation in an evidence: what a curator reads at a glance."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a curator should look at, why, and what could be done about it."""

    kind: FindingKind
    item_ids: tuple[str, ...]
    """The items concerned; the order is part of the finding (the one that forbids before the one that does it)."""
    evidence: str
    """One or two sentences that quote the words or figures which decided."""
    operation: Mapping[str, Any] | None = None
    """Proposed curator operation; None where a person must decide.

    `{"op": "MERGE", "ids": [...], "into": id}` (`ids` holds all of them, `into` among them, and `text` the merged
    text where it is known), `{"op": "UPDATE", "id": id, field: value}` or `{"op": "DELETE", "id": id}`.
    """

    @property
    def key(self) -> str:
        """Hash of kind and item ids: stays the same when the evidence is worded differently."""
        return content_hash(self.kind.value, *self.item_ids)[:KEY_LENGTH]


def quoted(text: str) -> str:
    """The text on one line in double quotes, shortened at its end."""
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= QUOTED else f'"{line[: QUOTED - 1].rstrip()}…"'


def listed(names: Iterable[str]) -> str:
    """Names as English lists them."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def merge_of(items: Iterable[Item], text: str | None = None) -> dict[str, Any]:
    """The operation that merges items into the one that lost least: best claim, then most votes, then longest text."""
    members = sorted(items, key=lambda item: item.id)
    into = max(members, key=lambda item: (item.claimed_speedup or 0, item.helpful - item.harmful, len(item.text)))
    operation: dict[str, Any] = {"op": "MERGE", "ids": [item.id for item in members], "into": into.id}
    return operation if text is None else {**operation, "text": text}
