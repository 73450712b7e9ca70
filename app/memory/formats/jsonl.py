"""JSON lines of our own: one record a line, complete enough to rebuild the corpus with its history from nothing."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from app.memory.drafts import DocumentDraft, ItemDraft, RecordDraft
from app.memory.formats.lines import (
    ADAPTER,
    AppliesWhenLine,
    BaselineLine,
    EventLine,
    ItemLine,
    Line,
    PlaybookLine,
    ProblemLine,
    RankingLine,
    ReaderLine,
    RedirectLine,
    RevisionLine,
    RunLine,
    WordingLine,
)
from app.records import (
    Baseline,
    Corpus,
    CounterEvent,
    Item,
    LineFault,
    Problem,
    Reader,
    RecordedRanking,
    Revision,
    Run,
)


@dataclass(frozen=True, slots=True)
class Past:
    """What happened to the items of a corpus."""

    source_hashes: Mapping[str, str | None]
    revisions: Iterable[Revision] = ()
    events: Iterable[CounterEvent] = ()
    redirects: Mapping[str, str] | None = None
    runs: Iterable[Run] = ()


def read(lines: Iterable[str], file: str) -> DocumentDraft:
    """All that the lines say; a line that cannot be read is a fault with its number."""
    draft = DocumentDraft(file)
    for number, raw in enumerate(lines, start=1):
        text = raw.lstrip("\ufeff").strip() if number == 1 else raw.strip()
        if not text:
            continue
        try:
            _take(ADAPTER.validate_python(_typed(json.loads(text))), number, draft)
        except (ValidationError, ValueError, RecursionError) as fault:
            draft.faults.append(LineFault(file, number, _reason(fault)))
    return draft


def write(corpus: Corpus, past: Past) -> Iterator[str]:
    """The corpus as lines, each ending in a newline, in an order in which nothing refers to what comes later."""
    yield _dumped(PlaybookLine())
    for problem in corpus.problems.values():
        yield _dumped(ProblemLine(**_fields(problem)))
    for reader in corpus.readers.values():
        yield _dumped(ReaderLine(**_fields(reader)))
    for item in corpus.items.values():
        yield _dumped(_item_line(item, past.source_hashes.get(item.id)))
    for revision in past.revisions:
        yield _dumped(RevisionLine(**_fields(revision)))
    for event in past.events:
        yield _dumped(EventLine(**{name: getattr(event, name) for name in EventLine.model_fields if name != "type"}))
    for from_id, to_id in (past.redirects or {}).items():
        yield _dumped(RedirectLine(from_id=from_id, to_id=to_id))
    for baseline in corpus.baselines:
        yield _dumped(BaselineLine(**_fields(baseline)))
    for (source, problem_id), item_ids in corpus.rankings.items():
        yield _dumped(RankingLine(source=source, problem=problem_id, item_ids=list(item_ids)))
    for run in past.runs:
        yield _dumped(RunLine(**{name: getattr(run, name) for name in RunLine.model_fields if name != "type"}))
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
            plain = {"state": line.state.value, "verdict": line.verdict.value, "reason": line.reason.value}
            draft.runs.append(Run(**{**values, **plain}))
        case WordingLine():
            draft.wording[line.place] = line.phrase
        case RevisionLine():
            draft.revisions.append(Revision(**values))
        case EventLine():
            draft.events.append(CounterEvent(**values))
        case RedirectLine():
            draft.redirects[line.from_id] = line.to_id
        case AppliesWhenLine():
            draft.records.append(RecordDraft(line.id, dict(line.model_extra or {}), number))
        case PlaybookLine():
            pass


def _typed(line: Any) -> Any:
    """A record of when an item applies needs no type: nothing else has an id and says whether it is generic."""
    if isinstance(line, dict) and "type" not in line and {"id", "generic"} <= line.keys():
        return {"type": "applies_when", **line}
    return line


def _item_line(item: Item, source_hash: str | None) -> ItemLine:
    shared = {name: getattr(item, name) for name in ItemLine.model_fields if hasattr(item, name)}
    source = item.kernel.source if item.kernel else None
    return ItemLine(**shared, source_hash=source_hash, kernel_source=source)


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
