"""Route of the vocabulary, which tasks and items are described in."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.api.guard import READS
from app.memory.lexicon import load_lexicon

router = APIRouter(prefix="/v1", tags=["retrieval"], dependencies=READS)


class OperationOut(BaseModel):
    """An operation, or a set term that stands for several."""

    name: str
    kind: str
    mathematics: str = Field(description="What it computes, in a sentence.")
    aliases: list[str]
    members: list[str] = Field(description="Operations that a set term stands for; empty for a plain operation.")
    expands_to: list[str] = Field(description="Simpler operations that a composite usually consists of.")


class VocabularyOut(BaseModel):
    """The words of tasks and of `applies_when`. A task that names operations by them is understood best."""

    operations: list[OperationOut]
    families: list[str]
    regimes: dict[str, str]
    topics: dict[str, str]


@router.get("/vocabulary", operation_id="get_vocabulary")
def get_vocabulary() -> VocabularyOut:
    """Operations, families, regimes and topics with their meaning."""
    lexicon = load_lexicon()
    operations = [
        OperationOut(
            name=operation.name,
            kind=operation.kind,
            mathematics=operation.mathematics,
            aliases=list(operation.aliases),
            members=list(operation.members),
            expands_to=list(operation.expands_to),
        )
        for operation in lexicon.operations.values()
    ]
    return VocabularyOut(
        operations=operations,
        families=list(lexicon.families),
        regimes=dict(lexicon.regimes),
        topics=dict(lexicon.topics),
    )
