"""Route of imports: a file of any known format as the body of one request."""

import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Request as HttpRequest
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from app.api.deps import CuratorDep, ServicesDep
from app.api.guard import CURATES
from app.api.problem_details import answers
from app.errors import InvalidInput
from app.services.documents import ImportFormat
from app.services.importing import import_upload
from app.services.load import ImportReport

router = APIRouter(prefix="/v1", tags=["exchange"], dependencies=CURATES)

FileName = Annotated[
    str,
    Query(
        pattern=r"^\.?\w[\w .()@+-]{0,119}$",
        description="The file's name, which helps to tell its format and stands in the faults.",
        examples=["CLAUDE.md"],
    ),
]


class ImportFaultOut(BaseModel):
    """A part of the file that was not taken, or was taken with a remark."""

    file: str
    line: int = Field(description="From 1; 0 where the fault belongs to no single line.")
    reason: str
    taken: bool = Field(description="True for a remark: the part was taken all the same.")


class ImportOut(BaseModel):
    """What an import wrote. Sent again, the same file writes nothing."""

    added: int = Field(description="Items that are new.")
    changed: int = Field(description="Items whose text, votes or facts moved.")
    facts: int = Field(description="Other rows: problems, readers, baselines, history, wording.")
    embedded: int = Field(description="Texts that were embedded.")
    complete: bool = Field(description="Whether every part of the file was taken.")
    dry_run: bool
    faults: list[ImportFaultOut]

    @classmethod
    def of(cls, report: ImportReport, *, dry_run: bool) -> "ImportOut":
        """The answer for a report."""
        stored = list(report.documents.values())
        return cls(
            added=sum(document.added for document in stored),
            changed=sum(document.changed for document in stored),
            facts=sum(document.facts for document in stored),
            embedded=report.embedded,
            complete=report.complete,
            dry_run=dry_run,
            faults=[ImportFaultOut(file=f.file, line=f.line, reason=f.reason, taken=f.taken) for f in report.faults],
        )


_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The file itself, as `curl --data-binary @FILE` sends it.",
        "content": {
            "text/plain": {
                "schema": {"type": "string"},
                "example": "## strategies\n[str-00001] helpful=3 harmful=0 :: Fuse the bias into the epilogue.\n",
            },
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


@router.post("/import", operation_id="import_file", responses=answers(409, 413, 422, 503), openapi_extra=_BODY)
async def import_file(
    request: HttpRequest,
    services: ServicesDep,
    curator: CuratorDep,
    wanted: Annotated[ImportFormat, Query(alias="format", description="auto tells it by the content.")] = (
        ImportFormat.AUTO
    ),
    name: FileName = "upload.txt",
    dry_run: Annotated[bool, Query(description="Tell what would be written, and write nothing.")] = False,
) -> ImportOut:
    """Imports one file: lines that can be taken are, the others are listed with line and reason."""
    with tempfile.TemporaryDirectory(prefix="playbook-import-") as folder:
        file = Path(folder) / name
        if await _received(request, file) == 0:
            raise InvalidInput("The body is empty: send the file's content, as `curl --data-binary @FILE` does.")
        report = await run_in_threadpool(
            import_upload,
            services.database,
            services.embedder,
            services.catalog,
            file,
            wanted,
            curator.actor,
            dry_run=dry_run,
        )
    return ImportOut.of(report, dry_run=dry_run)


async def _received(request: HttpRequest, file: Path) -> int:
    """Writes the body to a file as it comes, so that a large one is never held in memory; its size in bytes."""
    size = 0
    with file.open("wb") as copy:
        async for chunk in request.stream():
            await run_in_threadpool(copy.write, chunk)
            size += len(chunk)
    return size
