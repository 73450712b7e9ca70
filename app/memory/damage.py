"""Texts that were broken on their way here and should be repaired before they are offered to anyone."""

import re

_ELIDED_QUOTE = re.compile(r"\w'\.\.\.'\w")
_FENCE_LINE = re.compile(r"^[^\S\n]*(?:```|~~~)", re.MULTILINE)


def damage(text: str) -> str | None:
    """What is broken in a text, in words; None for a sound one."""
    elided = _ELIDED_QUOTE.search(text)
    if elided:
        around = text[max(0, elided.start() - 20) : elided.end() + 20]
        return f"words are missing where a quotation was cut: {around!r}"
    if len(_FENCE_LINE.findall(text)) % 2:
        return "a code fence is opened and never closed"
    return None
