"""Separates source code from prose in what an agent sent."""

from __future__ import annotations

import re

_FENCE = re.compile(r"```[ \t]*([\w+-]*)[ \t]*\n(.*?)(?:```|\Z)", re.DOTALL)
_CODE_START = re.compile(r"^(?:import |from \w[\w.]* import |class \w+|def \w+|@\w)", re.MULTILINE)
_OTHER_LANGUAGES = frozenset(
    {"cuda", "cpp", "c++", "c", "cu", "rust", "js", "javascript", "java", "go", "json", "bash", "sh"}
)


def separate(text: str) -> tuple[str, str]:
    """Return (prose, code): fenced blocks, or everything from the first line that starts a Python module."""
    blocks = [match.group(2) for match in _FENCE.finditer(text) if match.group(1).lower() not in _OTHER_LANGUAGES]
    if blocks:
        return _FENCE.sub(" ", text).strip(), "\n".join(blocks)
    if len(_CODE_START.findall(text)) >= 2 and ("forward" in text or "torch" in text):
        start = _CODE_START.search(text)
        assert start is not None  # findall found some
        return text[: start.start()].strip(), text[start.start() :]
    return text, ""
