"""The history of an item as a person reads it: states and votes in one line, each with what it changed."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.records import CounterEvent, Revision
from app.services.curation import item_history
from app.store.database import Database


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text that stayed, went or came."""

    kind: str
    """same, gone or new."""
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One field that a revision changed."""

    field: str
    before: Any
    after: Any

    @property
    def pieces(self) -> list[Piece]:
        """The change word by word."""
        return list(word_difference(_words_of(self.before), _words_of(self.after)))


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened: a revision with its changes, or a vote with the counters after it."""

    at: datetime
    actor: str
    revision: Revision | None = None
    changes: tuple[Change, ...] = ()
    event: CounterEvent | None = None
    helpful: int = 0
    harmful: int = 0
    taken_back: bool = False
    """Whether a later event took this vote back."""


def timeline(database: Database, item_id: str) -> list[Entry]:
    """Everything that happened to an item, newest first."""
    revisions, events = item_history(database, item_id)
    entries = [*_states(revisions), *_votes(events)]
    entries.sort(key=lambda entry: entry.at, reverse=True)
    return entries


def counter_steps(entries: Sequence[Entry]) -> list[tuple[datetime, int, int]]:
    """(at, helpful, harmful) after each vote, oldest first."""
    votes = [entry for entry in reversed(entries) if entry.event is not None]
    return [(entry.at, entry.helpful, entry.harmful) for entry in votes]


def _states(revisions: Sequence[Revision]) -> Iterator[Entry]:
    before: Mapping[str, Any] | None = None
    for revision in revisions:
        changes = () if before is None else tuple(_changes(before, revision.state))
        yield Entry(revision.at, revision.actor, revision=revision, changes=changes)
        before = revision.state


def _votes(events: Sequence[CounterEvent]) -> Iterator[Entry]:
    reverted = {event.reverts for event in events if event.reverts}
    helpful = harmful = 0
    for event in events:
        helpful, harmful = helpful + event.helpful, harmful + event.harmful
        yield Entry(
            event.at, event.actor, event=event, helpful=helpful, harmful=harmful, taken_back=event.uid in reverted
        )


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for name in after:
        if name != "position" and before.get(name) != after[name]:
            yield Change(name, before.get(name), after[name])


def _words_of(value: Any) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {entry}" for name, entry in value.items())
    return "" if value is None else str(value)


def word_difference(before: str, after: str) -> Iterator[Piece]:
    """Two texts as one, with what went and what came."""
    left, right = _split(before), _split(after)
    for kind, i, j, k, m in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            yield Piece("same", "".join(left[i:j]))
            continue
        if j > i:
            yield Piece("gone", "".join(left[i:j]))
        if m > k:
            yield Piece("new", "".join(right[k:m]))


MOST_WORDS = 4000


def _split(text: str) -> list[str]:
    """Words with the space after them; of a long text lines, so that comparing stays quick."""
    words = [word + " " for word in text.replace("\n", " \n").split(" ")]
    return words if len(words) <= MOST_WORDS else text.splitlines(keepends=True)
