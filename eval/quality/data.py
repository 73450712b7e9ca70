"""Loads queries, grades, items and curated records. The data lies beside the repository; `find_shared` says where."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.memory.applies_when import AppliesWhen, parse_record

ROOT = Path(__file__).resolve().parents[2]
WORDINGS = ("text", "terse", "code", "paraphrase")
KINDS = {"bullets": "str-", "memories": "mem-"}
_ACE_ITEM = re.compile(r"^\[(str-\d+)\] helpful=(\d+) harmful=(\d+) :: ", re.MULTILINE)
_MEMORY = re.compile(r"^\[(mem-\d+)\] ", re.MULTILINE)


class DataMissing(FileNotFoundError):
    """The shared data does not lie where this evaluation looks for it."""


@dataclass(frozen=True, slots=True)
class Query:
    """A problem with its four wordings."""

    id: str
    level: int
    name: str
    family: str
    wordings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Item:
    """An item of the seed corpus; `source` is the problem its text names first, if any."""

    id: str
    text: str
    helpful: int
    harmful: int


@dataclass(frozen=True, slots=True)
class Collection:
    """Everything a quality run needs. `grades` is problem -> item -> grade in 0..3."""

    queries: tuple[Query, ...]
    grades: Mapping[str, Mapping[str, float]]
    items: tuple[Item, ...]
    records: Mapping[str, AppliesWhen]


def find_shared(start: Path = ROOT) -> Path:
    """Return the folder of shared data beside the repository.

    Raises:
        DataMissing: neither ``../shared`` nor ``PLAYBOOK_SHARED`` exists.
    """
    for candidate in (
        start.parent / "shared",
        Path(os.environ.get("PLAYBOOK_SHARED", "")) if os.environ.get("PLAYBOOK_SHARED") else None,
    ):
        if candidate is not None and (candidate / "data").is_dir():
            return candidate
    raise DataMissing("no ../shared beside the repository and no PLAYBOOK_SHARED")


def load(shared: Path, queries: Path | None = None, labels: Path | None = None) -> Collection:
    """Load the collection; other query and label files of the same form may be named."""
    families = {
        row["id"]: row["family"] for row in csv.DictReader((shared / "data" / "problems.csv").open(encoding="utf-8"))
    }
    lines = (queries or shared / "eval" / "dev_queries.jsonl").read_text(encoding="utf-8").splitlines()
    asked = []
    for line in lines:
        row = json.loads(line)
        asked.append(
            Query(
                row["id"],
                row["level"],
                row["name"],
                families.get(row["id"], ""),
                {w: row[w] for w in WORDINGS if w in row},
            )
        )
    grades = json.loads((labels or shared / "eval" / "dev_labels.json").read_text(encoding="utf-8"))
    rows = [
        json.loads(line) for line in (shared / "data" / "applies_when.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    return Collection(tuple(asked), grades, tuple(load_items(shared)), {row["id"]: parse_record(row) for row in rows})


def load_items(shared: Path) -> list[Item]:
    """Read ACE bullets and memories out of the seed documents, each once, by id."""
    found: dict[str, Item] = {}
    for path in sorted((shared / "seeds").glob("*.txt")):
        document = json.loads(path.read_text(encoding="utf-8"))
        for policy in ("ace", "mem0"):
            for contexts in document.get(policy, {}).values():
                for context in contexts.values():
                    for item in (_bullets if policy == "ace" else _memories)(context):
                        found.setdefault(item.id, item)
    return [found[key] for key in sorted(found)]


def _bullets(context: str) -> list[Item]:
    marks = list(_ACE_ITEM.finditer(context))
    ends = [mark.start() for mark in marks[1:]] + [len(context)]
    return [
        Item(mark[1], context[mark.end() : end].rstrip("\n"), int(mark[2]), int(mark[3]))
        for mark, end in zip(marks, ends, strict=True)
    ]


def _memories(context: str) -> list[Item]:
    marks = list(_MEMORY.finditer(context))
    ends = [mark.start() for mark in marks[1:]] + [len(context)]
    return [Item(mark[1], context[mark.end() : end].rstrip("\n"), 0, 0) for mark, end in zip(marks, ends, strict=True)]
