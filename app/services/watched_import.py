"""An import that somebody watches: it runs in a thread of its own, and tells of each step."""

import queue
import re
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.errors import InvalidInput, PlaybookError
from app.services.assembly import Services
from app.services.documents import ImportFormat
from app.services.importing import import_paths
from app.services.load import ImportReport

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Step:
    """How far an import is."""

    documents: int = 0
    embedded: int = 0
    report: ImportReport | None = None
    """What it did; there once it is done."""
    fault: str | None = None
    """Why it was given up."""


def watched(services: Services, name: str, content: bytes, wanted: ImportFormat, by: str) -> Iterator[Step]:
    """Begins to import one document, and gives its steps as they come, the last with the report.

    The import goes on to its end even where nobody asks for the next step. `name` is what a client called the file:
    it names the document in provenance, and never where anything is written.
    """
    if not content.strip():
        raise InvalidInput("There is nothing to import: choose a file, or paste a text.")
    steps: queue.Queue[Step] = queue.Queue()
    arguments = (services, _safe(name), content, wanted, by, steps)
    threading.Thread(target=_import, args=arguments, name="import", daemon=True).start()
    return _until_done(steps)


def _until_done(steps: "queue.Queue[Step]") -> Iterator[Step]:
    while True:
        step = steps.get()
        yield step
        if step.report is not None or step.fault is not None:
            return


def _import(
    services: Services, name: str, content: bytes, wanted: ImportFormat, by: str, steps: "queue.Queue[Step]"
) -> None:
    done = {"documents": 0, "embedded": 0}

    def progress(step: str, count: int) -> None:
        done[step] = done.get(step, 0) + count
        steps.put(Step(done["documents"], done["embedded"]))

    last = Step(fault="The import ended in an unexpected way; the log says more. What was whole is kept.")
    try:
        with tempfile.TemporaryDirectory(prefix="playbook-import-") as folder:
            path = Path(folder) / name
            path.write_bytes(content)
            report = import_paths(
                services.database, services.embedder, services.catalog, [path], wanted, progress, by=by
            )
        last = Step(done["documents"], done["embedded"], report=report)
    except PlaybookError as fault:
        last = Step(done["documents"], done["embedded"], fault=fault.detail)
    except OSError as fault:
        last = Step(fault=f"The file could not be kept: {fault.strerror}.")
    finally:
        steps.put(last)


def _safe(name: str) -> str:
    """A file name without folders or anything that a file system could take amiss; its suffix tells the format."""
    plain = _UNSAFE.sub("_", name.replace("\\", "/").rpartition("/")[2]).strip("._")
    return plain[-_LONGEST_NAME:] or "import.txt"
