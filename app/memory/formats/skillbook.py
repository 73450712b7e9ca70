"""ace-framework's skillbook JSON, from its first files (`bullets` with `content`) to schema 2 (`issue`, `insight`).

Skills become bullets. Their ids repeat from skillbook to skillbook (`context-00001`), so each bullet gets an id of ours
and the skill's own, with the moment it was made, recognises it at the next import.
"""

import json
from collections.abc import Mapping
from typing import Any

from app.memory.drafts import DocumentDraft, ItemDraft
from app.memory.formats.foreign import Gathering, count_of, line_of
from app.vocabulary import DEFAULT_SECTIONS, ItemKind, ItemStatus

ORIGIN = "ace-framework"

_READ = {"id", "section", "content", "issue", "insight", "active", "status", "embedding"}
_COUNTERS = {"helpful": ("helpful_count", "helpful"), "harmful": ("harmful_count", "harmful")}


def looks_like(document: Any) -> bool:
    """Whether parsed JSON is of this format."""
    return _skills(document) is not None


def read(document: Any, content: str, file: str) -> DocumentDraft:
    """The skills of a parsed file; `content` is the file itself, for the lines of faults."""
    gathering = Gathering(file, ORIGIN)
    for key, skill in (_skills(document) or {}).items():
        line = line_of(content, json.dumps(str(key), ensure_ascii=False) + ":")
        if not isinstance(skill, Mapping):
            gathering.fault(line, f"{key} is not an object")
            continue
        votes = _votes(skill)
        if votes is None:
            gathering.fault(line, f"{key}: helpful and harmful are whole numbers of votes, 0 or more")
            continue
        item = ItemDraft(
            kind=ItemKind.BULLET,
            section=str(skill.get("section") or DEFAULT_SECTIONS[ItemKind.BULLET])[:200],
            text=_text(skill),
            status=ItemStatus.ACTIVE if _is_active(skill) else ItemStatus.RETIRED,
            helpful=votes[0],
            harmful=votes[1],
            line=line,
        )
        made = skill.get("created_at")
        facts = {name: value for name, value in skill.items() if name not in _READ and name not in _counter_names()}
        gathering.take(item, f"{key}@{made}" if made else str(key), {"skill": str(key), **facts})
    return gathering.draft


def _skills(document: Any) -> Mapping[str, Any] | None:
    if not isinstance(document, Mapping) or not {"next_id", "sections"} & document.keys():
        return None
    found = next((document[name] for name in ("skills", "bullets") if name in document), None)
    return found if isinstance(found, Mapping) else None


def _text(skill: Mapping[str, Any]) -> str:
    """The issue, then what to do about it; an insight that only repeats the issue is not said twice."""
    parts = [str(skill[name]).strip() for name in ("content", "issue", "insight") if skill.get(name)]
    return "\n".join(dict.fromkeys(parts))


def _is_active(skill: Mapping[str, Any]) -> bool:
    return bool(skill.get("active", True)) and skill.get("status", "active") == "active"


def _votes(skill: Mapping[str, Any]) -> tuple[int, int] | None:
    found = []
    for names in _COUNTERS.values():
        stated = next((skill[name] for name in names if skill.get(name) is not None), 0)
        found.append(count_of(stated))
    helpful, harmful = found
    return None if helpful is None or harmful is None else (helpful, harmful)


def _counter_names() -> set[str]:
    return {name for names in _COUNTERS.values() for name in names}
