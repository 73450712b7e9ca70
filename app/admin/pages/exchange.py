"""Import with its progress, and export."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, File, Form, UploadFile
from starlette.responses import Response, StreamingResponse

from app.admin.desk import DeskDep
from app.admin.gate import DeskRoute, needs
from app.services.documents import ImportFormat
from app.services.export import export_ace, export_jsonl
from app.services.watched_import import watched
from app.vocabulary import Scope

router = APIRouter(prefix="/admin/exchange", route_class=DeskRoute)

FORMATS = [wanted for wanted in ImportFormat if wanted is not ImportFormat.BULLETS]
"""What one file can hold; a folder is imported by the command."""


@router.get("")
@needs(Scope.READ)
def exchange_page(desk: DeskDep) -> Response:
    """Forms to import, and links to export."""
    most = desk.services.settings.max_body_bytes
    return desk.page("exchange.html", formats=FORMATS, most=most, steps=None, name="")


@router.post("/import")
@needs(Scope.CURATE)
def import_document(
    desk: DeskDep,
    wanted: Annotated[ImportFormat, Form(alias="format")] = ImportFormat.AUTO,
    pasted: Annotated[str, Form()] = "",
    file: Annotated[UploadFile | None, File()] = None,
) -> Response:
    """Imports a file or a pasted text; the page grows as the import goes on."""
    is_file = file is not None and bool(file.filename)
    content = file.file.read() if file is not None and is_file else pasted.replace("\r\n", "\n").encode()
    name = (file.filename or "") if file is not None and is_file else "pasted.txt"
    steps = watched(desk.services, name, content, wanted, desk.name)
    most = desk.services.settings.max_body_bytes
    parts = desk.page_in_parts("exchange.html", formats=FORMATS, most=most, steps=steps, name=name)
    return StreamingResponse(parts, media_type="text/html; charset=utf-8")


@router.get("/export")
@needs(Scope.READ)
def export(desk: DeskDep, format: Literal["ace", "jsonl"] = "jsonl") -> Response:
    """The playbook as ACE text, or everything as JSON lines."""
    day = datetime.now(UTC).strftime("%Y-%m-%d")
    suffix = "txt" if format == "ace" else "jsonl"
    headers = {"Content-Disposition": f'attachment; filename="playbook-{day}.{suffix}"'}
    services = desk.services
    if format == "ace":
        return Response(export_ace(services.catalog), media_type="text/plain; charset=utf-8", headers=headers)
    lines = export_jsonl(services.catalog, services.database)
    return StreamingResponse(lines, media_type="application/x-ndjson", headers=headers)
