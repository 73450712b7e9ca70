"""Code blocks of Markdown pages: where they stand, what they are, and whether they say that they cannot be run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"(?P<indent> *)(?P<fence>`{3,})(?P<language>\w*) *\Z")
_MARK = re.compile(r"<!-- not run(?: here)?: (?P<reason>.+) -->\Z")


@dataclass(frozen=True)
class Block:
    """One fenced block. `reason` says why it cannot be run; None for one that is run, parsed or compared."""

    page: Path
    line: int
    language: str
    code: str
    reason: str | None


def blocks_of(page: Path) -> Iterator[Block]:
    """The blocks of a page in order."""
    lines = page.read_text(encoding="utf-8").split("\n")
    number = 0
    while number < len(lines):
        begin = _FENCE.match(lines[number])
        if begin is None:
            number += 1
            continue
        end = next(n for n in range(number + 1, len(lines)) if lines[n].strip() == begin["fence"])
        mark = _MARK.match(lines[number - 1].strip()) if number else None
        code = "\n".join(line.removeprefix(begin["indent"]) for line in lines[number + 1 : end]) + "\n"
        yield Block(page, number + 1, begin["language"], code, mark["reason"] if mark else None)
        number = end + 1
