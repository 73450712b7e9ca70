"""Routes that move whole corpora: export."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from app.api.deps import CatalogDep, DatabaseDep
from app.api.guard import READS
from app.api.problem_details import answers
from app.services.export import export_ace, export_jsonl, export_markdown

router = APIRouter(prefix="/v1", tags=["exchange"], dependencies=READS)


@router.get(
    "/export",
    operation_id="export",
    response_class=Response,
    responses={
        **answers(422, 503),
        200: {
            "content": {"text/plain": {}, "text/markdown": {}, "application/x-ndjson": {}},
            "description": "The corpus",
        },
    },
)
def export(
    catalog: CatalogDep,
    database: DatabaseDep,
    wanted: Annotated[str, Query(alias="format", pattern="^(ace|jsonl|markdown)$")] = "jsonl",
) -> Response:
    """The playbook as ACE text or Markdown, or everything as JSON lines."""
    if wanted == "ace":
        return Response(export_ace(catalog), media_type="text/plain; charset=utf-8")
    if wanted == "markdown":
        return StreamingResponse(export_markdown(catalog), media_type="text/markdown; charset=utf-8")
    return StreamingResponse(export_jsonl(catalog, database), media_type="application/x-ndjson")
