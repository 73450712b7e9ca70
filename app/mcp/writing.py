"""Tools that write: feedback, and proposals, which wait for a curator."""

from typing import Annotated

from pydantic import Field

from app.mcp.entry import Call, Desk
from app.mcp.shapes import Applied, FeedbackAnswer, Outcome, Proposed, Vote
from app.services import curation
from app.services.curation import Curator
from app.services.feedback import FeedbackWish, give
from app.services.feedback import Vote as Counted
from app.vocabulary import ItemKind, ItemStatus, Scope


class Writing:
    """Each method is a tool; its docstring is what an agent reads of it."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def record_feedback(
        self,
        call: Call,
        items: Annotated[list[Vote], Field(min_length=1, max_length=200, description="One vote an item.")],
        context_id: Annotated[
            str | None, Field(max_length=200, description="context_id or retrieval_id of the answer that showed them.")
        ] = None,
        reader: Annotated[str | None, Field(max_length=200, description="The model that read it: yours.")] = None,
        outcome: Outcome | None = None,
        idempotency_key: Annotated[
            str | None, Field(max_length=200, description="Makes a repeated call count once.")
        ] = None,
    ) -> FeedbackAnswer:
        """Tells which of the shown items helped or misled. Counted once; unknown ids are listed, not counted."""
        with self._desk.admitted(call, Scope.FEEDBACK) as (services, caller):
            if context_id is not None:
                services.recorder.flush()
            given = give(
                services.database,
                services.embedder,
                FeedbackWish(
                    votes=[Counted(vote.id.lower(), vote.signal) for vote in items],
                    actor=caller.name,
                    reader=reader,
                    context_id=context_id,
                    outcome=outcome.model_dump(exclude_none=True) if outcome else None,
                    idempotency_key=idempotency_key,
                ),
            )
        return FeedbackAnswer(
            applied=[Applied(id=entry[0], helpful=entry[1], harmful=entry[2]) for entry in given.applied],
            unknown_ids=list(given.unknown_ids),
            duplicate=given.duplicate,
            notes=list(given.notes),
        )

    def propose_item(
        self,
        call: Call,
        text: Annotated[str, Field(min_length=1, max_length=20_000, description="First sentence: when it applies.")],
        kind: Annotated[ItemKind, Field(description="bullet, lesson, pitfall, recipe or memory.")] = ItemKind.BULLET,
        family: Annotated[str | None, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")] = None,
        source_problem: Annotated[str | None, Field(max_length=200, description="Problem it was learned from.")] = None,
        evidence: Annotated[str | None, Field(max_length=300, description="Where it was measured or seen.")] = None,
    ) -> Proposed:
        """Proposes something worth remembering. A curator reads it before any answer shows it."""
        with self._desk.admitted(call, Scope.CONTRIBUTE) as (services, caller):
            curator = Curator(services.database, services.embedder, caller.name)
            origin = {"proposed_by": caller.name, "key": caller.key_id, "door": "mcp", "evidence": evidence}
            fields = {
                "status": ItemStatus.PENDING,
                "family": family,
                "source_problem": source_problem,
                "provenance": {name: value for name, value in origin.items() if value},
            }
            item = curation.create(curator, kind, text, fields)
        return Proposed(id=item.id, status=item.status)
