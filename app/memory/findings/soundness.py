"""Texts that were broken on their way here.

Elided quotations and open fences are told by `app.memory.damage`, which also keeps such items out of fresh rankings.
The marks below are weaker and only reported. None has a threshold; each is confined to where it cannot be meant:

- Code, in fences or backticks, is not looked at. Brackets are counted whatever their shape, because a half-open
  interval closes with another shape than it opens with; a text may have as many brackets too many as it has smileys and
  list marks such as `1)` or `b)`.
- Double quotes and backticks must be even in number. Single ones are mostly apostrophes and are left alone; a double
  quote after a digit is a measure of length.
- A text that ends in a comma, an opening bracket, an ellipsis or a word that calls for another one was cut, and so was
  one that begins with a closing bracket or a comma. A missing full stop alone is style.
- A replacement character or a control character stands where something else stood.
"""

import re
from collections.abc import Iterator, Sequence

from app.memory.damage import damage
from app.memory.findings.finding import Finding
from app.memory.findings.reading import Reading
from app.vocabulary import FindingKind

_FENCED = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1", re.MULTILINE | re.DOTALL)
_FENCE_MARK = re.compile(r"```|~~~")
_CODE = re.compile(r"`[^`\n]*`")
_GLAD = re.compile(r"(?<=\s)[:;]-?\)(?!\w)")
_SAD = re.compile(r"(?<=\s)[:;]-?\((?!\w)")
_LIST_MARK = re.compile(r"(?:(?<=\s)|^)(?:\d{1,2}|[a-zA-Z]|[ivx]{1,4})\)", re.MULTILINE)
_QUOTED_BRACKET = re.compile(r"(['\"])[()\[\]{}]+\1")
_DOUBLE_QUOTE = re.compile(r'(?<!\d)"|[\u201c\u201d]')
_CUT_END = re.compile(r"(?:[,(\[{]|\.\.\.|\u2026|\s[-\u2013\u2014])$")
_CALLING = re.compile(
    r"(?<=\s)(?:the|an?|of|and|or|with|from|than|which|because|into|are|be|while|its|their|but|whose|if|unless)$"
)
_CUT_START = re.compile(r"^(?:[,;)\]}]|\.\.\.|\u2026)")
_LOST = re.compile(r"[\ufffd\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_AROUND = 40


def damaged(read: Sequence[Reading]) -> list[Finding]:
    """One finding per item with a broken text, with all that is broken in it."""
    found = []
    for item in (reading.item for reading in read):
        faults = [fault for fault in (item.damage or damage(item.text),) if fault]
        faults += breaks(item.text)
        if faults:
            evidence = f"{item.id} is broken: {'; '.join(faults)}."
            found.append(Finding(FindingKind.DAMAGE, (item.id,), evidence))
    return found


def breaks(text: str) -> Iterator[str]:
    """The weaker marks of damage in a text, in words that quote the place."""
    prose = _FENCE_MARK.sub(" ", _FENCED.sub(" ", text))
    if prose.count("`") % 2:
        yield f"a backtick is never closed, last at {_place(prose, prose.rfind('`'))}"
    prose = _CODE.sub(lambda match: " " * len(match[0]), prose)
    if (place := _open_bracket(prose)) is not None:
        yield f"a bracket has no partner: {_place(prose, place)}"
    marks = list(_DOUBLE_QUOTE.finditer(prose))
    if len(marks) % 2:
        yield f"a quotation is never closed, last at {_place(prose, marks[-1].start())}"
    bare = text.strip()
    if _CUT_END.search(bare) or _CALLING.search(bare):
        yield f"the end is missing: {_place(bare, len(bare))}"
    if _CUT_START.search(bare):
        yield f"the beginning is missing: {_place(bare, 0)}"
    if lost := _LOST.search(text):
        yield f"characters were lost at {_place(text, lost.start())}"


def _open_bracket(prose: str) -> int | None:
    """Place of the first bracket without a partner, shapes disregarded; None where all have one, or smile."""
    prose = _QUOTED_BRACKET.sub(lambda match: " " * len(match[0]), prose)
    opened: list[int] = []
    closed: list[int] = []
    for place, character in enumerate(prose):
        if character in "([{":
            opened.append(place)
        elif character in ")]}":
            if opened:
                opened.pop()
            else:
                closed.append(place)
    if len(closed) > len(_LIST_MARK.findall(prose)) + len(_GLAD.findall(prose)):
        return closed[0]
    return opened[0] if len(opened) > len(_SAD.findall(prose)) else None


def _place(text: str, place: int) -> str:
    return repr(" ".join(text[max(0, place - _AROUND) : place + _AROUND].split()))
