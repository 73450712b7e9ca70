"""References between items, e.g. ``see str-00012``, found in their texts."""

from __future__ import annotations

import re
from collections.abc import Collection

_REFERENCE = re.compile(r"\b((?:str|mem|ctx|bul|les|pit|rec|ker)-\d{3,6})\b")


def referenced_ids(text: str, *, own_id: str = "", known: Collection[str] | None = None) -> tuple[str, ...]:
    """Return the ids a text refers to, in order of first mention, without its own and, if given, only known ones."""
    found = dict.fromkeys(match.group(1) for match in _REFERENCE.finditer(text))
    return tuple(item for item in found if item != own_id and (known is None or item in known))


def dangling_ids(text: str, known: Collection[str]) -> tuple[str, ...]:
    """Return the ids a text refers to that do not exist."""
    return tuple(item for item in referenced_ids(text) if item not in known)
