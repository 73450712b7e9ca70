"""Recognises texts that the playbook itself gave out, when they come back as new."""

import re

_MARKS = (
    re.compile(r"\s*(?:[-*+]\s+|\d+[.)]\s+)"),
    re.compile(r"\s*\[[a-z]+-\d+\]\s*(?:\([^()]{1,120}\)\s*)?", re.IGNORECASE),
    re.compile(r"\s*helpful\s*=\s*\d+[,\s]+harmful\s*=\s*\d+\s*::\s?", re.IGNORECASE),
    re.compile(r"\s*\[(?:[\d.]+x|verified|measured|judged|unmeasured)[^\]]{0,300}\]\s*", re.IGNORECASE),
)


def bare(text: str) -> str:
    """A text less what a context puts before it: list mark, id, counters, claim; and less the indent of later lines."""
    lines = text.strip().split("\n")
    first, changed = lines[0], True
    while changed:
        changed = False
        for mark in _MARKS:
            match = mark.match(first)
            if match and match.end() > 0 and match.end() < len(first):
                first, changed = first[match.end() :], True
    indented = all(line.startswith("  ") or not line for line in lines[1:])
    rest = [line.removeprefix("  ") if indented else line for line in lines[1:]]
    return "\n".join([first, *(line[1:] if line.startswith("\\") else line for line in rest)])
