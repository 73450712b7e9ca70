"""Finds the files of an import and reads each one into a document draft."""

import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.errors import UnreadableImport
from app.memory.drafts import DocumentDraft
from app.memory.formats import corpus_file, jsonl, mem0, rules, skillbook
from app.memory.formats.ace import AceReader
from app.memory.recovery import recover
from app.records import Item, LineFault, Problem
from app.services.problem_files import levels, own_problems, read_problems

_LEADING_BYTES = 8192
_ACE_LINE = re.compile(r"^\s*(?:[-*+]\s+)?\[[^\[\]\s]+-\d+\]", re.MULTILINE)


class ImportFormat(StrEnum):
    """What can be imported."""

    AUTO = "auto"
    ACE = "ace"
    CONTEXTS = "contexts"
    KERNELBENCH = "kernelbench"
    JSONL = "jsonl"
    BULLETS = "bullets"
    MEM0 = "mem0"
    SKILLBOOK = "skillbook"
    RULES = "rules"


def read_document(
    path: Path, wanted: ImportFormat, problems: Mapping[str, Problem], known: Sequence[Item]
) -> DocumentDraft:
    """The content of a file or folder; UnreadableImport where it is missing, empty, binary or of another format."""
    try:
        found = _detected(path) if wanted is ImportFormat.AUTO else wanted
        match found:
            case ImportFormat.ACE:
                return _read_ace(path)
            case ImportFormat.CONTEXTS | ImportFormat.MEM0 | ImportFormat.SKILLBOOK:
                return _read_json(path, found, problems, known)
            case ImportFormat.RULES:
                return _read_rules(path)
            case ImportFormat.JSONL:
                with path.open(encoding="utf-8", newline="\n") as lines:
                    return jsonl.read(lines, path.name)
            case ImportFormat.KERNELBENCH:
                return read_problems(path)
            case _:
                return _read_corpus_files(path)
    except UnicodeDecodeError as fault:
        raise UnreadableImport(f"{path}: not UTF-8 text (byte {fault.start}); save it as UTF-8.") from fault
    except OSError as fault:
        raise UnreadableImport(f"{path}: {fault.strerror or fault}.") from fault


def _detected(path: Path) -> ImportFormat:
    """The format of a path by what it looks like."""
    if path.is_dir():
        return ImportFormat.KERNELBENCH if any(levels(path)) else ImportFormat.BULLETS
    with path.open("rb") as file:
        start = file.read(_LEADING_BYTES)
    if not start.strip():
        raise UnreadableImport(f"{path}: the file is empty.")
    if b"\0" in start:
        raise UnreadableImport(f"{path}: a binary file, not text.")
    text = start.decode("utf-8", "ignore").lstrip("\ufeff \t\r\n")
    if path.suffix == ".csv":
        return ImportFormat.KERNELBENCH
    if text.startswith("{") or re.match(r"\[\s*[{\]]", text):
        typed = re.match(r'\{\s*"(?:type|id)"\s*:', text) or path.suffix in (".jsonl", ".ndjson")
        return _json_format(path) if not typed or path.suffix == ".json" else ImportFormat.JSONL
    if _is_rules_file(path, text):
        return ImportFormat.RULES
    return ImportFormat.BULLETS if text.startswith("---") and path.suffix == ".md" else ImportFormat.ACE


def _is_rules_file(path: Path, text: str) -> bool:
    """A file that is named as agents' rules are, or Markdown that is neither a corpus file nor a playbook."""
    if _ACE_LINE.search(text):
        return False
    name = path.name.lower()
    named = name in rules.NAMES or name.endswith(rules.SUFFIXES)
    return named or (path.suffix == ".md" and not text.startswith("---"))


def _json_format(path: Path) -> ImportFormat:
    """What a JSON document is by its keys. Lines of our own that only happen to be named .json are told apart, too."""
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except (json.JSONDecodeError, RecursionError):
        with path.open(encoding="utf-8-sig") as lines:
            return ImportFormat.JSONL if '"type"' in lines.readline() else ImportFormat.CONTEXTS
    if mem0.looks_like(document):
        return ImportFormat.MEM0
    return ImportFormat.SKILLBOOK if skillbook.looks_like(document) else ImportFormat.CONTEXTS


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


def _read_rules(path: Path) -> DocumentDraft:
    content = path.read_text(encoding="utf-8-sig")
    if content.startswith(rules.EXPORTED):
        raise UnreadableImport(f"{path}: a Markdown export is for reading. Import the JSON lines of the same corpus.")
    return rules.read(content, path.name)


def _read_json(
    path: Path, wanted: ImportFormat, problems: Mapping[str, Problem], known: Sequence[Item]
) -> DocumentDraft:
    """A JSON document of the wanted format; UnreadableImport where it is not whole, or has another shape."""
    content = path.read_text(encoding="utf-8-sig")
    try:
        document = json.loads(content)
    except (json.JSONDecodeError, RecursionError) as fault:
        place = (
            f"line {fault.lineno}, column {fault.colno}" if isinstance(fault, json.JSONDecodeError) else "its nesting"
        )
        raise UnreadableImport(f"{path}: not whole JSON ({fault}); it breaks at {place}. Was it cut short?") from fault
    if wanted is ImportFormat.MEM0 and mem0.looks_like(document):
        return mem0.read(document, content, path.name)
    if wanted is ImportFormat.SKILLBOOK and skillbook.looks_like(document):
        return skillbook.read(document, content, path.name)
    if wanted is ImportFormat.CONTEXTS and _holds_contexts(document):
        return recover(document, problems, path.name, known)
    raise UnreadableImport(f"{path}: expected {_SHAPES[wanted]}.")


_SHAPES = {
    ImportFormat.CONTEXTS: "{policy: {reader: {problem id: context}}} with texts as leaves",
    ImportFormat.MEM0: "what mem0's get_all or history returns: a list of objects with 'memory' or 'new_memory'",
    ImportFormat.SKILLBOOK: "an ace-framework skillbook: 'skills' (or 'bullets'), 'sections' and 'next_id'",
}


def _holds_contexts(document: Any) -> bool:
    return isinstance(document, dict) and all(
        isinstance(readers, dict)
        and all(
            isinstance(texts, dict) and all(isinstance(t, str) for t in texts.values()) for texts in readers.values()
        )
        for readers in document.values()
    )


def _read_corpus_files(path: Path) -> DocumentDraft:
    """Items from one corpus file, or from every corpus file below a folder; README files are not items."""
    files = sorted(p for p in path.rglob("*.md") if p.name != "README.md") if path.is_dir() else [path]
    if not files:
        raise UnreadableImport(f"{path}: the folder holds no corpus files (*.md) and is no KernelBench checkout.")
    draft = DocumentDraft(path.name, problems=list(own_problems(path)) if path.is_dir() else [])
    for file in files:
        name = str(file.relative_to(path)) if path.is_dir() else file.name
        try:
            item = corpus_file.read(file.read_text(encoding="utf-8"), {"origin": "corpus file", "file": name})
        except (ValueError, OSError) as fault:
            draft.faults.append(LineFault(name, 1, str(fault)))
        else:
            draft.items.append(item)
    return draft
