"""Finds the items that help with a task."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from app.memory.budget import best_within_budget, count_tokens
from app.memory.rendering import ranked_entry
from app.records import ContextRecord, Task
from app.services.catalog import Catalog
from app.services.ranking import Ranked, Ranker, Wish
from app.services.recorder import Recorder
from app.services.stages import stage
from app.services.tasks import TaskReader
from app.services.turns import Turns
from app.vocabulary import LeftOutReason


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Ranked items, and what was left out."""

    retrieval_id: str
    results: tuple[Ranked, ...]
    total_candidates: int
    left_out: Mapping[LeftOutReason, int]
    tokens: int
    understood: Mapping[str, Any]
    """What was read out of the task."""
    notes: tuple[str, ...]


class Search:
    """Answers searches from the present snapshot."""

    def __init__(
        self, catalog: Catalog, tasks: TaskReader, ranker: Ranker, recorder: Recorder[ContextRecord], turns: Turns
    ) -> None:
        self._turns = turns
        self._recorder = recorder
        self._catalog = catalog
        self._tasks = tasks
        self._ranker = ranker

    def find(self, task: Task, wish: Wish, token_budget: int | None = None) -> SearchAnswer:
        """The best items for a task, as many whole ones as fit the token budget."""
        with self._turns.taken():
            return self._found(task, wish, token_budget)

    def _found(self, task: Task, wish: Wish, token_budget: int | None) -> SearchAnswer:
        with stage("snapshot"):
            snapshot = self._catalog.current()
        with stage("reading"):
            read = self._tasks.read(task, snapshot.corpus)
        with stage("ranking"):
            ranked = self._ranker.rank(snapshot, read, wish)
        entries = [(entry.item.id, ranked_entry(entry.item)) for entry in ranked.results]
        kept, dropped = best_within_budget("", entries, token_budget, "\n\n")
        results = tuple(entry for entry in ranked.results if entry.item.id in kept)
        answer = SearchAnswer(
            retrieval_id=f"ret-{uuid.uuid4().hex}",
            results=results,
            total_candidates=ranked.total_candidates,
            left_out={**ranked.left_out, LeftOutReason.BUDGET: len(dropped)},
            tokens=sum(count_tokens(text) for item_id, text in entries if item_id in kept),
            understood=read.described(),
            notes=read.notes,
        )
        self._recorder.keep(
            ContextRecord(
                id=answer.retrieval_id,
                policy="search",
                reader=wish.reader,
                task=read.described(),
                item_ids=tuple(entry.item.id for entry in results),
                tokens=answer.tokens,
                left_out={reason.value: count for reason, count in answer.left_out.items()},
                at=datetime.now(UTC),
            )
        )
        return answer
