r"""ACE playbook text: `## section` lines, then `[id] helpful=H harmful=H :: text`, where a text may run over lines.

Reading is lenient where a person's meaning is plain (list marks, capitals, commas, CRLF, a missing section) and refuses
the rest with line and reason. It also takes what ACE's own code writes: bullets without counters (`[shr-00001] text`,
as its AppWorld agent keeps them), and ids made of a section's first letters, which need not be letters: such
a bullet gets an id of ours, and its own is kept to recognise it by.

Writing is canonical; a line of a text that would read as a new bullet or section gets a backslash in front, which
reading takes off again, so no text can forge a second bullet.
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
_FOREIGN = re.compile(
    r"\s*(?:[-*+]\s+)?\[(?P<id>[^\[\]]{1,64})\](?P<counters>\s*helpful\s*=.*?)::(?P<text>.*)\Z",
    re.DOTALL | re.ASCII | re.I,
)
_PLAIN = re.compile(
    r"\s*(?:[-*+]\s+)?\[(?P<id>(?!(?:mem|les|pit|rec|ker)-)[A-Za-z][A-Za-z0-9]*-\d{5,12})\](?P<counters>)\s+(?P<text>\S.*)\Z",
    re.ASCII,
)
_COUNTED = re.compile(r"\s*(?:\Z|(?:helpful|harmful|neutral)\s*=|[A-Za-z]+\s*=\s*[-+\d])", re.I)
_ALMOST = re.compile(r"\s*(?:[-*+]\s+)?\[[A-Za-z][A-Za-z0-9]*-\w+\]\s*(?:$|::|(?:helpful|harmful|neutral)\s*=)", re.I)
_SECTION = re.compile(r"##\s+(?P<title>\S.*?)\s*\Z")
_COUNTER = re.compile(r"(?P<name>[A-Za-z]+)\s*=\s*(?P<value>\S+?)\s*(?:[,;]\s*|\s+|\Z)")
_FORGED = re.compile(
    r"\\*(?:##\s|\s*(?:[-*+]\s+)?\[(?:[A-Za-z][A-Za-z0-9]*-\w+\]|[^\[\]]{1,64}\]\s*helpful\s*=))", re.ASCII | re.I
)
_ID = re.compile(r"[A-Za-z][A-Za-z0-9]*-\d{1,12}", re.ASCII)
ORIGIN = "ace"
"""Origin of bullets whose ids are none here."""

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
        bullet = _bullet(line)
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
            id=self._own_id(number, bullet["id"]),
            source_ids=(bullet["id"],) if not _ID.fullmatch(bullet["id"]) else (),
            helpful=counters["helpful"],
            harmful=counters["harmful"],
            line=number,
        )

    def _own_id(self, number: int, given: str) -> str | None:
        if _ID.fullmatch(given):
            return given.lower()
        self._fault(
            number, f"[{given}] is no id here (letters and digits, '-', digits): it gets one of ours", taken=True
        )
        return None

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
        if draft is None:
            return
        name = draft.id or draft.source_ids[0]
        while before_frame and len(self._lines) > 1 and not self._lines[-1].strip():
            self._lines.pop()
        text = "\n".join(self._lines)
        if not text.strip():
            self._fault(draft.line, f"{name} has no text")
        elif name in self._seen:
            same = self._seen[name] == text
            reason = "repeats a bullet above" if same else "is used twice with different texts; the first one is kept"
            self._fault(draft.line, f"{name} {reason}")
        else:
            self._seen[name] = text
            if draft.section not in self.reading.sections:
                self.reading.sections.append(draft.section)
            draft.text = text
            if draft.id is None:
                draft.provenance = {"origin": ORIGIN, "file": self.reading.file}
            self._read_any = True
            yield draft

    def _fault(self, line: int, reason: str, *, taken: bool = False) -> None:
        self.reading.faults.append(LineFault(self.reading.file, line, reason, taken=taken))


def _bullet(line: str) -> re.Match[str] | None:
    """A line that begins a bullet, with its id, what stands where counters do, and its text."""
    bullet = _BULLET.match(line)
    if bullet and not _COUNTED.match(bullet["counters"]):
        bullet = None  # the ' :: ' belongs to the text of a bullet without counters
    if bullet is None and not _ALMOST.match(line):
        bullet = _PLAIN.match(line)
    return bullet or _FOREIGN.match(line)


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
