"""Imports documents: read, store, embed. Every step can be stopped and run again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.errors import UnreadableImport
from app.memory.merging import unedited
from app.records import LineFault
from app.retrieval.embedder import Embedder
from app.services.deriving import derive_missing, require_same_model
from app.services.documents import ImportFormat, read_document
from app.services.storing import Stored, store_document
from app.store import corpus, items
from app.store.database import Database


@dataclass(slots=True)
class ImportReport:
    """What an import did."""

    documents: dict[str, Stored] = field(default_factory=dict)
    """Path -> what was written of it."""
    unreadable: list[str] = field(default_factory=list)
    embedded: int = 0

    @property
    def written(self) -> int:
        """Rows added or changed."""
        return sum(stored.written for stored in self.documents.values())

    @property
    def faults(self) -> list[LineFault]:
        """Every part that was not taken, or was taken with a remark."""
        return [fault for stored in self.documents.values() for fault in stored.faults]

    @property
    def complete(self) -> bool:
        """Whether everything was taken."""
        return not self.unreadable and all(fault.taken for fault in self.faults)


def load(
    database: Database,
    embedder: Embedder,
    paths: Sequence[Path],
    wanted: ImportFormat = ImportFormat.AUTO,
    progress: Callable[[str, int], None] = lambda step, done: None,
    *,
    by: str | None = None,
    dry_run: bool = False,
) -> ImportReport:
    """Imports every path, each in one transaction, then embeds what has no vector yet.

    `progress(step, done)` is told of each finished document and each embedded batch. A path that cannot be read does
    not stop the others; the report names it.
    """
    require_same_model(database, embedder)
    report = ImportReport()
    for path in paths:
        with database.read() as session:
            problems = corpus.facts(session).problems
            known = unedited(corpus.items_since(session, -1), items.source_hashes(session))
        try:
            document = read_document(path, wanted, problems, known)
        except UnreadableImport as fault:
            report.unreadable.append(fault.detail)
        else:
            report.documents[str(path)] = store_document(database, document, by=by, dry_run=dry_run)
        progress("documents", 1)
    if dry_run:
        return report
    report.embedded = derive_missing(database, embedder, lambda done: progress("embedded", done))
    return report
