"""The lines of our JSON lines format: one model a type, everything that an edge has to check."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from app.vocabulary import ItemKind, ItemStatus, OrderReason, RunState, Verdict


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=False)


Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*-[0-9]{1,12}$", max_length=64)]
Count = Annotated[int, Field(ge=0, strict=True)]
Speedup = Annotated[Decimal, Field(ge=0, lt=Decimal("1e9"), decimal_places=8, allow_inf_nan=False)]


class PlaybookLine(_Line):
    """The first line: what the file is."""

    type: Literal["playbook"] = "playbook"
    format: Literal[1] = 1


class ProblemLine(_Line):
    """A problem."""

    type: Literal["problem"] = "problem"
    id: str = Field(min_length=1, max_length=200)
    origin: str = Field(max_length=100)
    level: int = Field(ge=0)
    number: int = Field(ge=0)
    name: str = Field(min_length=1, max_length=300)
    family: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    sha256: str | None = None


class ReaderLine(_Line):
    """A reader."""

    type: Literal["reader"] = "reader"
    name: str = Field(min_length=1, max_length=100)
    display_name: str | None = Field(default=None, max_length=200)


class ItemLine(_Line):
    """An item in its present state; a kernel brings its source."""

    type: Literal["item"] = "item"
    id: Id | None = None
    kind: ItemKind
    section: str = Field(min_length=1, max_length=200)
    position: int = Field(default=0, ge=0)
    text: str = Field(min_length=1, max_length=100_000)
    status: ItemStatus = ItemStatus.ACTIVE
    version: int | None = Field(default=None, ge=1)
    source_hash: str | None = Field(default=None, max_length=64)
    helpful: Count = 0
    harmful: Count = 0
    text_without_figures: str | None = None
    correctness: bool | None = None
    prohibition: bool | None = None
    family: str | None = Field(default=None, pattern=r"^[a-z][a-z0-9_]{0,39}$")
    source_problem: str | None = Field(default=None, max_length=200)
    claimed_speedup: Speedup | None = None
    claim_rank: int | None = Field(default=None, ge=1)
    writer: str | None = Field(default=None, max_length=100)
    applies_when: dict[str, Any] | None = None
    demotions: dict[str, dict[str, Any]] | None = None
    provenance: dict[str, Any] = Field(default_factory=dict)
    kernel_source: str | None = Field(default=None, max_length=1_000_000)


class BaselineLine(_Line):
    """A solo baseline."""

    type: Literal["baseline"] = "baseline"
    reader: str
    mean: Speedup
    problem: str | None = None
    family: str | None = None
    level: int | None = None
    runs: int | None = Field(default=None, ge=0)
    measured: bool = True


class RankingLine(_Line):
    """A recorded ranking."""

    type: Literal["ranking"] = "ranking"
    source: str = Field(min_length=1, max_length=40)
    problem: str
    item_ids: list[str]


class RunLine(_Line):
    """A finished verification run."""

    type: Literal["run"] = "run"
    id: str = Field(min_length=1, max_length=64)
    item_id: str
    state: Literal[RunState.FINISHED] = RunState.FINISHED
    hardware: str = Field(min_length=1, max_length=100)
    verdict: Verdict
    speedup: Speedup | None = None
    figures: dict[str, Any] | None = None
    fingerprint: dict[str, Any] | None = None
    content_hash: str | None = Field(default=None, max_length=64)
    reason: OrderReason = OrderReason.REQUEST
    actor: str | None = Field(default=None, max_length=200)
    attempts: int = Field(default=0, ge=0)
    worker: str | None = Field(default=None, max_length=200)
    queued_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None

    @model_validator(mode="after")
    def _figure_fits_verdict(self) -> Self:
        if self.speedup is not None and not self.verdict.is_success:
            raise ValueError(f"a run that is {self.verdict} carries no speedup")
        return self


class WordingLine(_Line):
    """A phrase of rendered contexts."""

    type: Literal["wording"] = "wording"
    place: str = Field(min_length=1, max_length=40)
    phrase: str


class RevisionLine(_Line):
    """A state that an item had."""

    type: Literal["revision"] = "revision"
    item_id: Id
    version: int = Field(ge=1)
    reason: str
    actor: str
    at: datetime
    state: dict[str, Any]
    note: str | None = None
    batch: str | None = None
    reverts: int | None = None


class EventLine(_Line):
    """A change of an item's counters."""

    type: Literal["event"] = "event"
    uid: str = Field(min_length=1, max_length=36)
    item_id: Id
    helpful: int
    harmful: int
    actor: str
    at: datetime
    reader: str | None = None
    reason: str | None = None
    batch: str | None = None
    reverts: str | None = None


class RedirectLine(_Line):
    """Where an id leads that was merged away."""

    type: Literal["redirect"] = "redirect"
    from_id: Id
    to_id: Id


class AppliesWhenLine(BaseModel):
    """When a known item applies; app.memory.applies_when checks the fields beside the id."""

    model_config = ConfigDict(extra="allow")

    type: Literal["applies_when"] = "applies_when"
    id: Id


Line = Annotated[
    PlaybookLine
    | RevisionLine
    | EventLine
    | RedirectLine
    | ProblemLine
    | ReaderLine
    | ItemLine
    | BaselineLine
    | RankingLine
    | RunLine
    | WordingLine
    | AppliesWhenLine,
    Field(discriminator="type"),
]
ADAPTER: TypeAdapter[Line] = TypeAdapter(Line)
"""Reads one line."""
