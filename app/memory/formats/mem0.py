"""A mem0 store's JSON: what `get_all` answers (with or without pages), a bare list of memories, or `history` entries.

mem0 has no file format of its own: people save what its calls return. Every memory becomes an item of kind memory; its
id, owner, times and metadata travel as provenance.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.memory.drafts import DocumentDraft, ItemDraft
from app.memory.formats.foreign import Gathering, line_of
from app.memory.formats.memories import MEMORY_SOURCE
from app.vocabulary import DEFAULT_SECTIONS, MEM0, ItemKind, ItemStatus

_TEXT = "memory"
_HISTORY = {"memory_id", "event", "new_memory"}
_NOT_FACTS = {"id", _TEXT, "score"}
_PROBLEM_KEYS = ("source_problem", "problem_id", "problem")


def looks_like(document: Any) -> bool:
    """Whether parsed JSON is of this format."""
    return _entries(document) is not None


def read(document: Any, content: str, file: str) -> DocumentDraft:
    """The memories of a parsed file; `content` is the file itself, for the lines of faults."""
    gathering = Gathering(file, MEM0)
    entries = _entries(document) or []
    if isinstance(document, Mapping):
        _remark_on_pages(document, gathering)
    if entries and all(isinstance(entry, Mapping) and entry.keys() >= _HISTORY for entry in entries):
        _read_history(entries, content, gathering)
        return gathering.draft
    for number, entry in enumerate(entries, start=1):
        text = entry.get(_TEXT) if isinstance(entry, Mapping) else None
        if not isinstance(entry, Mapping) or not isinstance(text, str):
            gathering.fault(0, f"entry {number} has no text under {_TEXT!r}")
            continue
        facts = {name: value for name, value in entry.items() if name not in _NOT_FACTS}
        _take(gathering, text, entry.get("id"), facts, content)
    return gathering.draft


def _entries(document: Any) -> Sequence[Any] | None:
    """The list of memories or of history entries in a parsed file; None where there is none."""
    if isinstance(document, Mapping):
        found = next((document[name] for name in ("results", "memories") if isinstance(document.get(name), list)), None)
        single = [document] if isinstance(document.get(_TEXT), str) else None
        return found if found is not None else single
    if not isinstance(document, list) or not document:
        return None
    shaped = all(isinstance(entry, Mapping) and (_TEXT in entry or entry.keys() >= _HISTORY) for entry in document)
    return document if shaped else None


def _remark_on_pages(document: Mapping[str, Any], gathering: Gathering) -> None:
    if document.get("next"):
        gathering.fault(0, "the file is one page of several: save the other pages and import them, too", taken=True)
    relations = document.get("relations")
    if relations:
        gathering.fault(0, f"{len(relations)} relations of a graph store were not taken: items have no relations")


def _read_history(entries: Sequence[Any], content: str, gathering: Gathering) -> None:
    """Each memory as its last entry leaves it; a deleted one is retired with the last text that it had."""
    last: dict[str, dict[str, Any]] = {}
    for entry in entries:
        memory = last.setdefault(str(entry["memory_id"]), {"states": []})
        text = entry["new_memory"] or entry.get("old_memory")
        gone = entry["event"] == "DELETE" or bool(entry.get("is_deleted"))
        memory["states"].append({name: entry.get(name) for name in ("event", "new_memory", "updated_at", "actor_id")})
        memory.update(text=text, gone=gone, created_at=entry.get("created_at"), role=entry.get("role"))
    for memory_id, memory in last.items():
        text, gone = str(memory.pop("text") or ""), memory.pop("gone")
        status = ItemStatus.RETIRED if gone else ItemStatus.ACTIVE
        facts = {"created_at": memory["created_at"], "role": memory["role"], "history": memory["states"]}
        _take(gathering, text, memory_id, facts, content, status)


def _take(
    gathering: Gathering,
    text: str,
    source_id: Any,
    facts: Mapping[str, Any],
    content: str,
    status: ItemStatus = ItemStatus.ACTIVE,
) -> None:
    named = str(source_id) if source_id else None
    line = line_of(content, json.dumps(named)) if named else line_of(content, json.dumps(text, ensure_ascii=False))
    if facts.get("expiration_date"):
        gathering.fault(
            line, f"{named} expires on {facts['expiration_date']}; the date is kept, not acted on", taken=True
        )
    item = ItemDraft(
        kind=ItemKind.MEMORY,
        section=DEFAULT_SECTIONS[ItemKind.MEMORY],
        text=text,
        status=status,
        source_problem=_source_problem(text, facts.get("metadata")),
        line=line,
    )
    gathering.take(item, named, facts)


def _source_problem(text: str, metadata: Any) -> str | None:
    """The problem that a memory was learned from: as its metadata names it, or as its first words do."""
    if isinstance(metadata, Mapping):
        named = next((metadata[key] for key in _PROBLEM_KEYS if isinstance(metadata.get(key), str)), None)
        if named and len(named) <= 200:
            return str(named)
    source = re.match(MEMORY_SOURCE, text)
    return source["problem"] if source else None
