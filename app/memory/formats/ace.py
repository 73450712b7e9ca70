r"""ACE playbook text: `## section` lines, then `[id] helpful=H harmful=H :: text`, where a text may run over lines.

Reading is lenient where a person's meaning is plain (list marks, capitals, commas, CRLF, a missing section) and refuses
the rest with line and reason. Writing is canonical; a line of a text that would read as a new bullet or section gets a
backslash in front, which reading takes off again, so no text can forge a second bullet.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from app.memory.drafts import ItemDraft
from app.records import LineFault
from app.vocabulary import DEFAULT_SECTIONS, ItemKind

_BULLET = re.compile(
    r"\s*(?:[-*+]\s+)?\[(?P<id>[A-Za-z][A-Za-z0-9]*-\d+)\](?P<counters>.*?)::(?P<text>.*)\Z", re.DOTALL | re.ASCII
)
_ALMOST = re.compile(r"\s*(?:[-*+]\s+)?\[[A-Za-z][A-Za-z0-9]*-\w+\]\s*(?:$|::|(?:helpful|harmful|neutral)\s*=)", re.I)
_SECTION = re.compile(r"##\s+(?P<title>\S.*?)\s*\Z")
_COUNTER = re.compile(r"(?P<name>[A-Za-z]+)\s*=\s*(?P<value>\S+?)\s*(?:[,;]\s*|\s+|\Z)")
_FORGED = re.compile(r"\\*(?:##\s|\s*(?:[-*+]\s+)?\[[A-Za-z][A-Za-z0-9]*-\w+\])", re.ASCII)
_COUNTERS = ("helpful", "harmful", "neutral")


@dataclass(slots=True)
class AceReading:
    """What a playbook text says: its head, section titles in order (empty ones too), and everything not taken."""

    file: str
    head: str = ""
    sections: list[str] = field(default_factory=list)
    ends_with_newline: bool = False
    faults: list[LineFault] = field(default_factory=list)


class AceReader:
    """Reads a playbook line by line, so that a large file is never held whole."""

    def __init__(self, file: str) -> None:
        self.reading = AceReading(file)
        self._section = DEFAULT_SECTIONS[ItemKind.BULLET]
        self._head: list[str] = []
        self._open: ItemDraft | None = None
        self._refused = False
        self._lines: list[str] = []
        self._seen: dict[str, str] = {}
        self._read_any = False

    def read(self, lines: Iterable[str]) -> Iterator[ItemDraft]:
        """Drafts in the order of the text; faults and frame gather in `reading`. Lines end in LF, CRLF or nothing."""
        number = 0
        for number, raw in enumerate(lines, start=1):
            self.reading.ends_with_newline = raw.endswith("\n")
            line = raw.removesuffix("\n").removesuffix("\r")
            yield from self._line(number, line.removeprefix("\ufeff") if number == 1 else line)
        yield from self._close(before_frame=True)
        if not self._read_any and not self.reading.faults:
            self._fault(max(number, 1), "the text holds no bullet such as '[str-00001] helpful=0 harmful=0 :: text'")

    def _line(self, number: int, line: str) -> Iterator[ItemDraft]:
        section = _SECTION.match(line)
        if section:
            yield from self._close(before_frame=True)
            self._refused = False
            self._section = section["title"]
            if self._section not in self.reading.sections:
                self.reading.sections.append(self._section)
            return
        bullet = _BULLET.match(line)
        if bullet or _ALMOST.match(line):
            yield from self._close()
            self._begin(number, bullet)
        elif self._open is not None:
            self._lines.append(line[1:] if line.startswith("\\") and _FORGED.match(line) else line)
        elif self._refused or not line.strip():
            return
        elif self.reading.sections or self._read_any:
            self._fault(number, "the line stands outside any bullet; give it an id such as '[str-00001]'")
        else:
            self._head.append(line)
            self.reading.head = "\n".join(self._head)

    def _begin(self, number: int, bullet: re.Match[str] | None) -> None:
        self._refused = True
        if bullet is None:
            self._fault(number, "the bullet has no ' :: ' between counters and text, or its id is not letters-digits")
            return
        counters = self._counters(number, bullet["counters"])
        if counters is None:
            return
        self._refused = False
        self._lines = [bullet["text"].removeprefix(" ")]
        self._open = ItemDraft(
            kind=ItemKind.BULLET,
            section=self._section,
            text="",
            id=bullet["id"].lower(),
            helpful=counters["helpful"],
            harmful=counters["harmful"],
            line=number,
        )

    def _counters(self, number: int, text: str) -> dict[str, int] | None:
        """The counters of a bullet, or None once the reason why they cannot be read is noted."""
        counters = dict.fromkeys(_COUNTERS, 0)
        rest = _COUNTER.sub("", text).strip(" ,;")
        if rest:
            self._fault(number, f"cannot read {rest[:60]!r} between id and ' :: '; expected helpful=N harmful=N")
            return None
        for match in _COUNTER.finditer(text):
            name, value = match["name"].lower(), match["value"]
            if name not in counters:
                self._fault(number, f"unknown counter {name!r}; expected helpful, harmful or neutral")
                return None
            if not re.fullmatch(r"\d{1,9}(?:\.0+)?", value, re.ASCII):
                self._fault(number, f"{name}={value[:20]} is not a whole number of votes (0 or more, ASCII digits)")
                return None
            counters[name] = int(float(value))
        if counters["neutral"]:
            self._fault(number, f"neutral={counters['neutral']} is not kept: neutral votes move no counter", taken=True)
        return counters

    def _close(self, *, before_frame: bool = False) -> Iterator[ItemDraft]:
        """Ends the open bullet; blank lines at its end are its own, unless a section or the end of the text follows."""
        draft, self._open = self._open, None
        if draft is None or draft.id is None:
            return
        while before_frame and len(self._lines) > 1 and not self._lines[-1].strip():
            self._lines.pop()
        text = "\n".join(self._lines)
        if not text.strip():
            self._fault(draft.line, f"{draft.id} has no text")
        elif draft.id in self._seen:
            same = self._seen[draft.id] == text
            reason = "repeats a bullet above" if same else "is used twice with different texts; the first one is kept"
            self._fault(draft.line, f"{draft.id} {reason}")
        else:
            self._seen[draft.id] = text
            if draft.section not in self.reading.sections:
                self.reading.sections.append(draft.section)
            draft.text = text
            self._read_any = True
            yield draft

    def _fault(self, line: int, reason: str, *, taken: bool = False) -> None:
        self.reading.faults.append(LineFault(self.reading.file, line, reason, taken=taken))


def guarded(text: str) -> str:
    """The text with a backslash before each later line that would read as a bullet, memory or section of its own."""
    first, *rest = text.split("\n")
    return "\n".join([first, *("\\" + line if _FORGED.match(line) else line for line in rest)])


def bullet_entry(item_id: str, helpful: int, harmful: int, text: str) -> str:
    """One bullet as canonical ACE text."""
    return f"[{item_id}] helpful={helpful} harmful={harmful} :: {guarded(text)}"


def playbook_text(head: str, sections: Iterable[tuple[str, Iterable[str]]]) -> str:
    """A playbook from its head and (section title, bullet entries); no newline at the end."""
    blocks = ["\n".join([f"## {title}", *entries]) for title, entries in sections]
    return "\n\n".join([head, *blocks] if head else blocks)
