"""JSON lines of our own: one record a line, complete enough to rebuild the corpus from nothing."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.memory.drafts import DocumentDraft, ItemDraft, RecordDraft
from app.records import Baseline, Corpus, Item, LineFault, Problem, Reader, RecordedRanking, Run
from app.vocabulary import ItemKind, ItemStatus, RunState


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
    state: RunState = RunState.FINISHED
    hardware: str = Field(min_length=1, max_length=100)
    verdict: str | None = None
    speedup: Speedup | None = None
    figures: dict[str, Any] | None = None
    fingerprint: dict[str, Any] | None = None
    finished_at: datetime | None = None


class WordingLine(_Line):
    """A phrase of rendered contexts."""

    type: Literal["wording"] = "wording"
    place: str = Field(min_length=1, max_length=40)
    phrase: str


class AppliesWhenLine(BaseModel):
    """When a known item applies; app.memory.applies_when checks the fields beside the id."""

    model_config = ConfigDict(extra="allow")

    type: Literal["applies_when"] = "applies_when"
    id: Id


Line = Annotated[
    PlaybookLine
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
_ADAPTER: TypeAdapter[Line] = TypeAdapter(Line)


def read(lines: Iterable[str], file: str) -> DocumentDraft:
    """All that the lines say; a line that cannot be read is a fault with its number."""
    draft = DocumentDraft(file)
    for number, raw in enumerate(lines, start=1):
        text = raw.lstrip("\ufeff").strip() if number == 1 else raw.strip()
        if not text:
            continue
        try:
            _take(_ADAPTER.validate_python(_typed(json.loads(text))), number, draft)
        except (ValidationError, ValueError, RecursionError) as fault:
            draft.faults.append(LineFault(file, number, _reason(fault)))
    return draft


def write(corpus: Corpus, runs: Iterable[Run]) -> Iterator[str]:
    """The corpus as lines, each ending in a newline, in an order in which nothing refers to what comes later."""
    yield _dumped(PlaybookLine())
    for problem in corpus.problems.values():
        yield _dumped(ProblemLine(**_fields(problem)))
    for reader in corpus.readers.values():
        yield _dumped(ReaderLine(**_fields(reader)))
    for item in corpus.items.values():
        yield _dumped(_item_line(item))
    for baseline in corpus.baselines:
        yield _dumped(BaselineLine(**_fields(baseline)))
    for (source, problem_id), item_ids in corpus.rankings.items():
        yield _dumped(RankingLine(source=source, problem=problem_id, item_ids=list(item_ids)))
    for run in runs:
        yield _dumped(RunLine(**_fields(run)))
    for place, phrase in corpus.wording.items():
        yield _dumped(WordingLine(place=place, phrase=phrase))


def _take(line: Line, number: int, draft: DocumentDraft) -> None:
    values = line.model_dump(exclude={"type"})
    match line:
        case ItemLine():
            draft.items.append(ItemDraft(**{**values, "kind": line.kind, "status": line.status}, line=number))
        case ProblemLine():
            draft.problems.append(Problem(**values))
        case ReaderLine():
            draft.readers.append(Reader(**values))
        case BaselineLine():
            draft.baselines.append(Baseline(**values))
        case RankingLine():
            draft.rankings.append(RecordedRanking(line.source, line.problem, tuple(line.item_ids)))
        case RunLine():
            draft.runs.append(Run(**{**values, "state": line.state.value}))
        case WordingLine():
            draft.wording[line.place] = line.phrase
        case AppliesWhenLine():
            draft.records.append(RecordDraft(line.id, dict(line.model_extra or {}), number))
        case PlaybookLine():
            pass


def _typed(line: Any) -> Any:
    """A record of when an item applies needs no type: nothing else has an id and says whether it is generic."""
    if isinstance(line, dict) and "type" not in line and {"id", "generic"} <= line.keys():
        return {"type": "applies_when", **line}
    return line


def _item_line(item: Item) -> ItemLine:
    shared = {name: getattr(item, name) for name in ItemLine.model_fields if hasattr(item, name)}
    return ItemLine(**shared, kernel_source=item.kernel.source if item.kernel else None)


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}


def _dumped(line: BaseModel) -> str:
    return line.model_dump_json(exclude_none=True) + "\n"


def _reason(fault: Exception) -> str:
    if isinstance(fault, ValidationError):
        first = fault.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"{place}: {first['msg']}" if place else str(first["msg"])
    if isinstance(fault, json.JSONDecodeError):
        return f"not JSON: {fault.msg} at column {fault.colno}"
    return str(fault) or type(fault).__name__
