"""Facts that ship with the product."""

import csv
import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

from app.records import Problem

KERNELBENCH = "KernelBench"


def bundled_problems() -> Iterator[Problem]:
    """Facts of KernelBench's problems of levels 1 to 3 (id, level, number, name, family, sha256 of the file)."""
    with resources.files("app.data").joinpath("kernelbench_problems.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            yield Problem(
                id=row["id"],
                origin=KERNELBENCH,
                level=int(row["level"]),
                number=int(row["number"]),
                name=row["name"],
                family=row["family"],
                sha256=row["sha256"],
            )


@cache
def curated_records() -> Mapping[str, Mapping[str, Any]]:
    """Hash of a text -> when an item with that very text applies, as a curator judged it by reading the text.

    An item that comes without a record of its own takes the one for its text, whatever its id.
    """
    records = {}
    with resources.files("app.data").joinpath("curated_records.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            records[record.pop("text_hash")] = record
    return records
