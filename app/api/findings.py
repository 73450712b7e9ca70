"""Routes of findings: what a curator should look at."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from app.api.deps import CuratorDep, DatabaseDep, ServicesDep
from app.api.guard import CURATES, READS
from app.api.problem_details import answers
from app.api.schemas import Listing, Request
from app.api.texts import Name, Note
from app.errors import InvalidInput
from app.records import StoredFinding
from app.services import findings
from app.vocabulary import FindingKind, FindingState

router = APIRouter(prefix="/v1", tags=["curation"])

_PAIRS = (FindingKind.EXACT_DUPLICATE, FindingKind.NEAR_DUPLICATE, FindingKind.ONE_RULE)


class FindingOut(BaseModel):
    """Something to look at, why, and what could be done."""

    id: str
    kind: FindingKind
    items: list[str]
    evidence: str
    operation: dict[str, Any] | None = Field(description="What accepting it does; null where a person must decide.")
    state: FindingState
    note: str | None
    actor: str | None
    found_at: datetime
    closed_at: datetime | None


class Decision(Request):
    """What a curator decides."""

    action: Literal["accept", "dismiss"]
    reason: Note | None = Field(default=None, description="Required to dismiss.")


class DecisionOut(BaseModel):
    """What came of it."""

    id: str
    state: FindingState
    batch_id: str | None = Field(description="Undo what accepting did with it.")


States = Annotated[FindingState | None, Query(description="open, accepted, dismissed or gone; all if left out.")]


@router.get("/findings", operation_id="list_findings", dependencies=READS, responses=answers(422, 503))
def list_findings(
    database: DatabaseDep,
    state: States = FindingState.OPEN,
    kind: Annotated[list[FindingKind] | None, Query()] = None,
) -> Listing[FindingOut]:
    """Findings as last computed, by an import, the nightly job, or POST /v1/findings/refresh."""
    return _listed(findings.list_findings(database, state=state, kinds=kind or ()))


@router.post("/findings/refresh", operation_id="refresh_findings", dependencies=CURATES, responses=answers(503))
def refresh_findings(services: ServicesDep) -> Listing[FindingOut]:
    """Computes all findings anew and lists the open ones."""
    return _listed(findings.lint(services.database, services.catalog))


@router.post(
    "/findings/{finding_id}",
    operation_id="decide_finding",
    dependencies=CURATES,
    responses=answers(400, 404, 409, 422, 503),
)
def decide_finding(curator: CuratorDep, finding_id: Name, decision: Decision) -> DecisionOut:
    """Accepts a finding, which carries out what it proposes, or dismisses it with a reason."""
    if decision.action == "accept":
        done = findings.accept(curator, finding_id, decision.reason)
        return DecisionOut(id=finding_id, state=FindingState.ACCEPTED, batch_id=done.batch)
    if not (decision.reason or "").strip():
        raise InvalidInput("Dismissing a finding needs a reason; it is not reported again.")
    findings.dismiss(curator, finding_id, decision.reason or "")
    return DecisionOut(id=finding_id, state=FindingState.DISMISSED, batch_id=None)


@router.get("/duplicates", operation_id="list_duplicates", dependencies=READS, responses=answers(503))
def list_duplicates(database: DatabaseDep) -> Listing[FindingOut]:
    """Open findings of items that say the same."""
    return _listed(findings.list_findings(database, state=FindingState.OPEN, kinds=_PAIRS))


@router.get("/conflicts", operation_id="list_conflicts", dependencies=READS, responses=answers(503))
def list_conflicts(database: DatabaseDep) -> Listing[FindingOut]:
    """Open findings of items that contradict each other, or a measurement."""
    kinds = (FindingKind.CONTRADICTION, FindingKind.STALE_CLAIM)
    return _listed(findings.list_findings(database, state=FindingState.OPEN, kinds=kinds))


def _listed(found: list[StoredFinding]) -> Listing[FindingOut]:
    shown = [
        FindingOut(
            id=finding.id,
            kind=FindingKind(finding.kind),
            items=list(finding.item_ids),
            evidence=finding.evidence,
            operation=None if finding.operation is None else dict(finding.operation),
            state=FindingState(finding.state),
            note=finding.note,
            actor=finding.actor,
            found_at=finding.found_at,
            closed_at=finding.closed_at,
        )
        for finding in found
    ]
    return Listing(items=shown, total=len(shown))
