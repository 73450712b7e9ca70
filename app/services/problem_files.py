"""Problem facts: of a KernelBench checkout, of a CSV, and of the problems beside corpus files. Nothing is executed."""

import ast
import csv
import hashlib
import io
import re
from collections.abc import Iterator
from pathlib import Path

from app.errors import UnreadableImport
from app.memory.drafts import DocumentDraft
from app.memory.families import family_of
from app.records import LineFault, Problem

_PROBLEM_FILE = re.compile(r"(?P<number>\d+)_(?P<name>.+)\.py\Z")
_PROBLEM_COLUMNS = ("id", "level", "number", "name", "family", "sha256")


def levels(path: Path) -> Iterator[tuple[int, Path]]:
    """(level, folder) of every level of a KernelBench checkout."""
    for base in (path, path / "KernelBench"):
        for level in (1, 2, 3, 4):
            folder = base / f"level{level}"
            if folder.is_dir():
                yield level, folder


def read_problems(path: Path) -> DocumentDraft:
    """Problem facts from a KernelBench checkout, or from a CSV of facts."""
    draft = DocumentDraft(path.name)
    if path.is_dir():
        for level, folder in levels(path):
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


def own_problems(folder: Path) -> Iterator[Problem]:
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
