"""An import as every door runs it: documents, then the index file and the findings, where anything changed."""

from collections.abc import Callable, Sequence
from pathlib import Path

from app.errors import UnreadableImport
from app.retrieval.embedder import Embedder
from app.services.catalog import Catalog
from app.services.documents import ImportFormat
from app.services.findings import lint
from app.services.load import ImportReport, load
from app.store.database import Database


def import_paths(
    database: Database,
    embedder: Embedder,
    catalog: Catalog,
    paths: Sequence[Path],
    wanted: ImportFormat = ImportFormat.AUTO,
    progress: Callable[[str, int], None] = lambda step, done: None,
    *,
    by: str | None = None,
    dry_run: bool = False,
) -> ImportReport:
    """Imports files and folders; `by` is kept with every revision, `dry_run` tells what would be written."""
    report = load(database, embedder, paths, wanted, progress, by=by, dry_run=dry_run)
    if not dry_run and (report.written or report.embedded):
        catalog.save_index()
        lint(database, catalog)
    return report


def import_upload(
    database: Database,
    embedder: Embedder,
    catalog: Catalog,
    file: Path,
    wanted: ImportFormat,
    by: str,
    *,
    dry_run: bool = False,
) -> ImportReport:
    """Imports one file that somebody sent; UnreadableImport names it as they did, not where it lies here."""
    report = import_paths(database, embedder, catalog, [file], wanted, by=by, dry_run=dry_run)
    if report.unreadable:
        raise UnreadableImport(report.unreadable[0].replace(str(file), file.name))
    return report
