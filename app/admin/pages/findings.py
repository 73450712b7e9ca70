"""The queue of findings."""

from typing import Annotated

from fastapi import APIRouter, Form, Query
from pydantic import BaseModel, BeforeValidator, Field
from starlette.responses import Response

from app.admin.desk import DeskDep
from app.admin.forms import AdminForm, Reason, chosen
from app.admin.gate import DeskRoute, needs
from app.admin.links import link, local
from app.services import findings
from app.services.findings_queue import queue
from app.services.texts import Note
from app.vocabulary import FindingKind, FindingState, Scope

router = APIRouter(prefix="/admin/findings", route_class=DeskRoute)


class Asked(BaseModel):
    """Which findings are asked for."""

    kind: Annotated[list[FindingKind], BeforeValidator(chosen)] = []
    state: FindingState = FindingState.OPEN
    page: int = Field(default=1, ge=1, le=100_000)


@router.get("")
@needs(Scope.READ)
def findings_page(desk: DeskDep, asked: Annotated[Asked, Query()]) -> Response:
    """Findings of a state, those of one kind together."""
    shown = queue(desk.services.database, asked.state, asked.kind, asked.page)
    state = None if asked.state is FindingState.OPEN else str(asked.state)
    query = {"kind": [str(kind) for kind in asked.kind], "state": state}
    return desk.page(
        "findings.html",
        shown=shown,
        kinds=asked.kind,
        all_kinds=list(FindingKind),
        state=asked.state,
        query=query,
        here=link("/admin/findings", query, page=asked.page if asked.page > 1 else None),
    )


@router.post("/refresh")
@needs(Scope.CURATE)
def refresh(desk: DeskDep, form: Annotated[AdminForm, Form()]) -> Response:
    """Computes all findings anew."""
    found = findings.lint(desk.services.database, desk.services.catalog)
    return desk.to("/admin/findings", f"Looked at the whole corpus: {len(found)} findings are open.")


class Accept(AdminForm):
    """Carries out what a finding proposes."""

    reason: Note | None = None
    back: str = "/admin/findings"


@router.post("/{finding_id}/accept")
@needs(Scope.CURATE)
def accept(desk: DeskDep, finding_id: str, form: Annotated[Accept, Form()]) -> Response:
    """Carries out what a finding proposes."""
    done = findings.accept(desk.curator, finding_id, form.reason)
    return desk.to(local(form.back), "Accepted: what the finding proposed was done.", done.batch)


class Dismiss(AdminForm):
    """Closes a finding without a change."""

    reason: Reason
    back: str = "/admin/findings"


@router.post("/{finding_id}/dismiss")
@needs(Scope.CURATE)
def dismiss(desk: DeskDep, finding_id: str, form: Annotated[Dismiss, Form()]) -> Response:
    """Closes a finding; it is not reported again."""
    findings.dismiss(desk.curator, finding_id, form.reason)
    return desk.to(local(form.back), "Dismissed; it will not be reported again.")
