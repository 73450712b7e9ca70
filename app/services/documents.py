"""Finds the files of an import and reads each one into a document draft."""

import ast
import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.errors import UnreadableImport
from app.memory.drafts import DocumentDraft
from app.memory.families import family_of
from app.memory.formats import corpus_file, jsonl
from app.memory.formats.ace import AceReader
from app.memory.recovery import recover
from app.records import Item, LineFault, Problem

_PROBLEM_FILE = re.compile(r"(?P<number>\d+)_(?P<name>.+)\.py\Z")
_PROBLEM_COLUMNS = ("id", "level", "number", "name", "family", "sha256")
_LEADING_BYTES = 8192


class ImportFormat(StrEnum):
    """What can be imported."""

    AUTO = "auto"
    ACE = "ace"
    CONTEXTS = "contexts"
    KERNELBENCH = "kernelbench"
    JSONL = "jsonl"
    BULLETS = "bullets"


def read_document(
    path: Path, wanted: ImportFormat, problems: Mapping[str, Problem], known: Sequence[Item]
) -> DocumentDraft:
    """The content of a file or folder; UnreadableImport where it is missing, empty, binary or of another format."""
    try:
        found = _detected(path) if wanted is ImportFormat.AUTO else wanted
        match found:
            case ImportFormat.ACE:
                return _read_ace(path)
            case ImportFormat.CONTEXTS:
                return recover(_contexts(path), problems, path.name, known)
            case ImportFormat.JSONL:
                with path.open(encoding="utf-8", newline="\n") as lines:
                    return jsonl.read(lines, path.name)
            case ImportFormat.KERNELBENCH:
                return _read_problems(path)
            case _:
                return _read_corpus_files(path)
    except UnicodeDecodeError as fault:
        raise UnreadableImport(f"{path}: not UTF-8 text (byte {fault.start}); save it as UTF-8.") from fault
    except OSError as fault:
        raise UnreadableImport(f"{path}: {fault.strerror or fault}.") from fault


def _detected(path: Path) -> ImportFormat:
    """The format of a path by what it looks like."""
    if path.is_dir():
        return ImportFormat.KERNELBENCH if any(_levels(path)) else ImportFormat.BULLETS
    with path.open("rb") as file:
        start = file.read(_LEADING_BYTES)
    if not start.strip():
        raise UnreadableImport(f"{path}: the file is empty.")
    if b"\0" in start:
        raise UnreadableImport(f"{path}: a binary file, not text.")
    text = start.decode("utf-8", "ignore").lstrip("\ufeff \t\r\n")
    if path.suffix == ".csv":
        return ImportFormat.KERNELBENCH
    if text.startswith("---") and path.suffix == ".md":
        return ImportFormat.BULLETS
    if text.startswith("{"):
        typed = re.match(r'\{\s*"(?:type|id)"\s*:', text) or path.suffix in (".jsonl", ".ndjson")
        return ImportFormat.JSONL if typed else ImportFormat.CONTEXTS
    return ImportFormat.ACE


def _read_ace(path: Path) -> DocumentDraft:
    reader = AceReader(path.name)
    # Only LF ends a line here: other line separators that Unicode knows are part of a text.
    with path.open(encoding="utf-8", newline="\n") as lines:
        items = list(reader.read(lines))
    draft = DocumentDraft(path.name, items=items, faults=reader.reading.faults)
    if items:
        head = reader.reading.head.strip("\n")
        draft.wording.update({"playbook_head": head} if head else {})
        draft.wording["playbook_sections"] = "\n".join(reader.reading.sections)
        draft.wording["playbook_end"] = "\n" if reader.reading.ends_with_newline else ""
    return draft


def _contexts(path: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, RecursionError) as fault:
        place = (
            f"line {fault.lineno}, column {fault.colno}" if isinstance(fault, json.JSONDecodeError) else "its nesting"
        )
        raise UnreadableImport(f"{path}: not whole JSON ({fault}); it breaks at {place}. Was it cut short?") from fault
    shaped = isinstance(document, dict) and all(
        isinstance(readers, dict)
        and all(
            isinstance(texts, dict) and all(isinstance(t, str) for t in texts.values()) for texts in readers.values()
        )
        for readers in document.values()
    )
    if not shaped:
        raise UnreadableImport(
            f"{path}: expected {{policy: {{reader: {{problem id: context}}}}}} with texts as leaves."
        )
    return dict(document)


def _levels(path: Path) -> Iterator[tuple[int, Path]]:
    for base in (path, path / "KernelBench"):
        for level in (1, 2, 3, 4):
            folder = base / f"level{level}"
            if folder.is_dir():
                yield level, folder


def _read_problems(path: Path) -> DocumentDraft:
    """Problem facts from a KernelBench checkout, or from a CSV of facts."""
    draft = DocumentDraft(path.name)
    if path.is_dir():
        for level, folder in _levels(path):
            draft.problems.extend(_checkout_problems(level, folder))
        if not draft.problems:
            raise UnreadableImport(f"{path}: no folder level1, level2 or level3 with problem files.")
        return draft
    rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")))
    if set(_PROBLEM_COLUMNS) - set(rows.fieldnames or ()):
        raise UnreadableImport(f"{path}: expected the columns {', '.join(_PROBLEM_COLUMNS)}.")
    for row in rows:
        try:
            numbers = int(row["level"]), int(row["number"])
            draft.problems.append(
                Problem(row["id"], "KernelBench", *numbers, row["name"], row["family"], row["sha256"])
            )
        except (ValueError, TypeError) as fault:
            draft.faults.append(LineFault(path.name, rows.line_num, f"level and number are whole numbers: {fault}"))
    return draft


def _checkout_problems(level: int, folder: Path) -> Iterator[Problem]:
    for file in sorted(folder.glob("*.py")):
        named = _PROBLEM_FILE.match(file.name)
        if named:
            number, name = int(named["number"]), named["name"]
            sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
            yield Problem(f"L{level}_{number:03d}", "KernelBench", level, number, name, family_of(name, level), sha256)


def _own_problems(folder: Path) -> Iterator[Problem]:
    """Problems of a corpus folder: `problems/<slug>.py`, read and never executed; FAMILY names the family."""
    for number, file in enumerate(sorted((folder / "problems").glob("*.py")), start=1):
        source = file.read_bytes()
        family = _constant(source, "FAMILY") or family_of(file.stem, level=1)
        name = "_".join(part.capitalize() for part in file.stem.split("_"))
        yield Problem(file.stem, "corpus file", 1, number, name, family, hashlib.sha256(source).hexdigest())


def _constant(source: bytes, name: str) -> str | None:
    """The text that a module assigns to a name at its top level."""
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError) as fault:
        raise UnreadableImport(f"a problem file is not Python: {fault}") from fault
    for statement in statements:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            if name in names:
                return str(statement.value.value)
    return None


def _read_corpus_files(path: Path) -> DocumentDraft:
    """Items from one corpus file, or from every corpus file below a folder; README files are not items."""
    files = sorted(p for p in path.rglob("*.md") if p.name != "README.md") if path.is_dir() else [path]
    if not files:
        raise UnreadableImport(f"{path}: the folder holds no corpus files (*.md) and is no KernelBench checkout.")
    draft = DocumentDraft(path.name, problems=list(_own_problems(path)) if path.is_dir() else [])
    for file in files:
        name = str(file.relative_to(path)) if path.is_dir() else file.name
        try:
            item = corpus_file.read(file.read_text(encoding="utf-8"), {"origin": "corpus file", "file": name})
        except (ValueError, OSError) as fault:
            draft.faults.append(LineFault(name, 1, str(fault)))
        else:
            draft.items.append(item)
    return draft
