"""Commands that move the corpus: import, export, reindex."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from app.cli.output import AsJson, complain, progress_bars, say, say_json
from app.services.assembly import assembled
from app.services.deriving import reindex as embed_again
from app.services.documents import ImportFormat
from app.services.export import export_ace, export_jsonl, export_markdown
from app.services.importing import import_paths
from app.services.load import ImportReport
from app.services.migrate import ensure_migrated
from app.settings import Settings
from app.store import items


class ExportFormat(StrEnum):
    """What can be exported."""

    ACE = "ace"
    MARKDOWN = "markdown"
    JSONL = "jsonl"


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command("import")(import_documents)
    app.command()(export)
    app.command()(reindex)


def import_documents(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders.", show_default=False)],
    wanted: Annotated[ImportFormat, typer.Option("--format", help="What the paths hold.")] = ImportFormat.AUTO,
    if_empty: Annotated[bool, typer.Option("--if-empty", help="Do nothing where there are items already.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell what would be written, and write nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Imports documents. A second import of the same ones writes nothing and embeds nothing."""
    services = assembled(Settings())
    ensure_migrated(services.database)
    if if_empty:
        with services.database.read() as session:
            if items.counts(session):
                say_json({"skipped": "not empty"}) if as_json else say("There are items already; nothing imported.")
                return
    with progress_bars(documents=len(paths), embedded=None) as progress:
        parts = services.database, services.embedder, services.catalog
        report = import_paths(*parts, paths, wanted, progress, dry_run=dry_run)
    _show(report, as_json=as_json)
    if not report.complete:
        raise typer.Exit(1)


def export(
    wanted: Annotated[
        ExportFormat, typer.Option("--format", help="ACE playbook text, Markdown, or JSON lines.")
    ] = ExportFormat.JSONL,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; standard output by default.")
    ] = None,
) -> None:
    """Exports the corpus."""
    services = assembled(Settings())
    ensure_migrated(services.database)
    if wanted is ExportFormat.ACE:
        chunks = iter([export_ace(services.catalog)])
    elif wanted is ExportFormat.MARKDOWN:
        chunks = export_markdown(services.catalog)
    else:
        chunks = export_jsonl(services.catalog, services.database)
    if output is None:
        for chunk in chunks:
            sys.stdout.buffer.write(chunk.encode())
        sys.stdout.buffer.flush()
        return
    try:
        with output.open("w", encoding="utf-8", newline="") as file:
            file.writelines(chunks)
    except OSError as fault:
        complain(f"{output}: {fault.strerror}")
        raise typer.Exit(1) from fault


def reindex(as_json: AsJson = False) -> None:
    """Embeds every item anew with the chosen sentence model, and writes the vector index."""
    services = assembled(Settings())
    ensure_migrated(services.database)
    services.catalog.forget_index()
    with progress_bars(embedded=None) as progress:
        embedded = embed_again(services.database, services.embedder, lambda done: progress("embedded", done))
    services.catalog.save_index()
    result = {"embedded": embedded, "model": services.embedder.model_id, "dimension": services.embedder.dimension}
    say_json(result) if as_json else say(f"{embedded} items embedded with {services.embedder.model_id}.")


def _show(report: ImportReport, *, as_json: bool) -> None:
    if as_json:
        say_json(
            {
                "documents": {
                    path: {"added": stored.added, "changed": stored.changed, "facts": stored.facts}
                    for path, stored in report.documents.items()
                },
                "written": report.written,
                "embedded": report.embedded,
                "unreadable": report.unreadable,
                "faults": [
                    {"file": f.file, "line": f.line, "reason": f.reason, "taken": f.taken} for f in report.faults
                ],
            }
        )
        return
    for path, stored in report.documents.items():
        say(f"{path}: {stored.added} items added, {stored.changed} changed, {stored.facts} other rows written")
    say(f"{report.written} written, {report.embedded} embedded")
    for reason in report.unreadable:
        complain(reason)
    for fault in report.faults:
        complain(f"{fault.file}:{fault.line}: {fault.reason}" + (" (taken)" if fault.taken else ""))
