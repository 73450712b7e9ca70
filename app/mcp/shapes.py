"""What the tools answer: few fields, short texts, and always a word on what was left out and how to get it."""

from decimal import Decimal
from typing import Annotated, Self

from pydantic import BaseModel, Field, PlainSerializer

from app.records import Item, Measurement
from app.vocabulary import ItemKind, ItemStatus, Signal

SHORT = 320
"""Characters of a text in a list."""

Ratio = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]


class Vote(BaseModel):
    """What the reader says of one item that it was shown."""

    id: str = Field(description="An id such as str-00012.")
    signal: Signal = Field(description="helpful, harmful or neutral.")


class Outcome(BaseModel):
    """What came of the attempt."""

    success: bool | None = None
    speedup: float | None = Field(default=None, ge=0, description="Over eager (a ratio).")
    note: str | None = Field(default=None, max_length=200)


class Hit(BaseModel):
    """An item that helps with the task."""

    id: str
    kind: ItemKind
    score: float
    text: str
    helpful: int
    harmful: int
    claimed_speedup: Ratio | None = None


class SearchAnswer(BaseModel):
    """Items that help, best first."""

    retrieval_id: str = Field(description="Send it with record_feedback.")
    hits: list[Hit]
    more: str = Field(description="What was left out, and how to get it.")


class ContextAnswer(BaseModel):
    """A text to put into a prompt."""

    context_id: str = Field(description="Send it with record_feedback.")
    text: str
    items: list[str]
    tokens: int
    more: str = Field(description="What was left out, and how to get it.")


class ItemAnswer(BaseModel):
    """One item."""

    id: str
    kind: ItemKind
    section: str
    status: ItemStatus
    text: str
    helpful: int
    harmful: int
    family: str | None = None
    source_problem: str | None = None
    claimed_speedup: Ratio | None = None
    merged_into: str | None = None
    more: str = ""

    @classmethod
    def of(cls, item: Item, merged_into: str | None = None) -> Self:
        """The item of a record; a kernel's code is left to get_kernel."""
        size = len(item.kernel.source) if item.kernel else 0
        more = f"Its code has {size} characters: get_kernel({item.id!r}) shows it." if size else ""
        plain = {name: getattr(item, name) for name in cls.model_fields if name not in ("merged_into", "more")}
        return cls(**plain, merged_into=merged_into, more=more)


class Applied(BaseModel):
    """An item's counters after the vote."""

    id: str
    helpful: int
    harmful: int


class FeedbackAnswer(BaseModel):
    """What became of the feedback."""

    applied: list[Applied]
    unknown_ids: list[str] = Field(description="Ids that no item has; they counted nothing.")
    duplicate: bool = Field(description="The same feedback was counted before; this time it counted nothing.")
    notes: list[str]


class Proposed(BaseModel):
    """A proposal that waits for a curator."""

    id: str
    status: ItemStatus
    note: str = "It is in no answer until a curator makes it active."


class Measured(BaseModel):
    """The latest verification run on one kind of hardware."""

    hardware: str
    verdict: str
    speedup: Ratio | None = None

    @classmethod
    def of(cls, measured: Measurement) -> Self:
        """The measurement of a record."""
        return cls(hardware=measured.hardware, verdict=measured.verdict, speedup=measured.speedup)


class KernelLine(BaseModel):
    """A kernel in a list."""

    id: str
    source_problem: str | None
    language: str
    text: str
    claimed_speedup: Ratio | None
    measured: list[Measured]


class KernelList(BaseModel):
    """Some of the kernels."""

    kernels: list[KernelLine]
    total: int
    more: str


class KernelAnswer(KernelLine):
    """A kernel with its code."""

    entry_point: str
    source: str = Field(description="Python that defines the entry point; empty if it was not asked for.")
    helpful: int
    harmful: int


class Stats(BaseModel):
    """What the playbook holds."""

    corpus_version: int
    items: dict[str, int] = Field(description="Kind -> number of items that answers may show.")
    waiting: int = Field(description="Proposals that wait for a curator.")
    verified: dict[str, dict[str, int]] = Field(description="Hardware -> verdict -> number of kernels.")
    readers: list[str] = Field(description="Readers whose solo baselines are known.")
    policies: dict[str, str] = Field(description="Context policy -> what it shows.")


def short(text: str) -> str:
    """A text cut to what a list shows."""
    return text if len(text) <= SHORT else text[: SHORT - 2].rstrip() + " …"
