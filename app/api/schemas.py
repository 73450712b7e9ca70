"""What travels over HTTP. Unknown fields are refused; every field says its unit."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, model_validator

from app.api.texts import Name, TaskText
from app.records import CounterEvent, Item, KernelCode, Revision, Task
from app.vocabulary import ItemKind, ItemStatus, KernelLanguage

T = TypeVar("T")
Speedup = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]


class Request(BaseModel):
    """Base of requests."""

    model_config = ConfigDict(extra="forbid")


class TaskIn(Request):
    """What the agent works on: a known problem, prose, code, or several of them."""

    problem_id: Name | None = Field(default=None, examples=["L2_020"])
    text: TaskText | None = Field(default=None, description="The task in words, or a terse note.")
    code: TaskText | None = Field(default=None, description="A PyTorch reference module; it is read, never executed.")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.problem_id is None and self.text is None and self.code is None:
            raise ValueError("a task needs problem_id, text or code")
        return self

    def record(self) -> Task:
        """The task as services take it."""
        return Task(self.problem_id, self.text, self.code)


class KernelOut(BaseModel):
    """The code of a kernel."""

    language: KernelLanguage
    entry_point: str
    source: str
    content_hash: str = Field(description="SHA-256 of the code alone.")

    @classmethod
    def of(cls, code: KernelCode) -> Self:
        """The code of a record."""
        return cls(
            language=code.language, entry_point=code.entry_point, source=code.source, content_hash=code.content_hash
        )


class ItemOut(BaseModel):
    """An item as it stands."""

    id: str
    kind: ItemKind
    section: str
    position: int
    text: str
    status: ItemStatus
    helpful: int
    harmful: int
    family: str | None
    source_problem: str | None
    claimed_speedup: Speedup | None = Field(description="Speedup over eager as the source claims it (a ratio).")
    correctness: bool | None
    prohibition: bool | None
    damage: str | None = Field(description="What is broken in the text; such an item is not ranked.")
    writer: str | None
    applies_when: dict[str, Any] | None
    provenance: dict[str, Any]
    version: int
    created_at: datetime | None
    updated_at: datetime | None
    kernel: KernelOut | None
    merged_into: str | None = Field(default=None, description="The item that a merged one's id leads to.")

    @classmethod
    def of(cls, item: Item) -> Self:
        """The item of a record."""
        plain = {name: getattr(item, name) for name in cls.model_fields if name not in ("kernel", "merged_into")}
        return cls(**plain, kernel=KernelOut.of(item.kernel) if item.kernel else None)


class RevisionOut(BaseModel):
    """A state that an item had from `at` on."""

    type: str = "revision"
    version: int
    reason: str
    actor: str
    at: datetime
    note: str | None
    reverts: int | None
    state: dict[str, Any]

    @classmethod
    def of(cls, revision: Revision) -> Self:
        """The revision of a record."""
        return cls(**{name: getattr(revision, name) for name in cls.model_fields if name != "type"})


class CounterEventOut(BaseModel):
    """A change of an item's counters."""

    type: str = "counters"
    uid: str
    reverts: str | None
    helpful: int
    harmful: int
    actor: str
    reader: str | None
    reason: str | None
    at: datetime

    @classmethod
    def of(cls, event: CounterEvent) -> Self:
        """The event of a record."""
        return cls(**{name: getattr(event, name) for name in cls.model_fields if name != "type"})


class Listing(BaseModel, Generic[T]):
    """Some of a list, how long it is in all, and where to go on."""

    items: list[T]
    total: int
    next_cursor: str | None = Field(default=None, description="Pass it as `cursor` to get the next part.")
