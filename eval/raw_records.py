"""The file of whole run records that a GPU host brings back: JSON lines, so that a step cut off keeps what it judged.

The first line says what was judged where (`step`, `devices`, `repeat`, `claimed`, `runs`), each further one is
`{"index", "record"}` in the order in which runs ended, and the last `{"seconds"}`, the length of the whole step.
"""

import json
import threading
from pathlib import Path
from typing import Any

from app.verification import RunRecord


class RawRecords:
    """Writes one step's file, line by line; the threads that judge share it."""

    def __init__(self, path: Path, heading: dict[str, Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path, self._lock = path, threading.Lock()
        path.write_text(json.dumps(heading) + "\n", encoding="utf-8")

    def add(self, index: int, record: RunRecord) -> None:
        """Keeps one run; `index` is its place among the step's jobs. A run judged again replaces its first record."""
        self._append({"index": index, "record": record.to_json()})

    def end(self, seconds: float) -> None:
        """Says that the step is whole, and how long it took."""
        self._append({"seconds": round(seconds, 1)})

    def _append(self, line: dict[str, Any]) -> None:
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def read_raw(path: Path) -> dict[str, Any]:
    """The heading's entries with `seconds` and `records`, in the order of the jobs.

    Raises SystemExit when the step was cut off: its records are in the file, but no result of all of them is true.
    """
    heading, *lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    records = {line["index"]: line["record"] for line in lines if "index" in line}
    if len(records) < heading["runs"] or "seconds" not in lines[-1]:
        raise SystemExit(f"{path.name} was cut off: it holds {len(records)} of {heading['runs']} runs. Run it again")
    return {**heading, **lines[-1], "records": [records[index] for index in sorted(records)]}
