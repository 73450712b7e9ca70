"""Renders the context that a policy gives a reader for a task."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from app.memory.budget import best_within_budget, count_tokens, cut_to_budget
from app.memory.measurements import measured_on
from app.memory.policies import Layout, Order, Policy, policy_named
from app.memory.rendering import (
    Scene,
    memory_entry,
    playbook_entry,
    ranked_entry,
    render_memories,
    render_memory,
    render_playbook,
    render_ranked,
)
from app.memory.selection import LeftOut, Selection, select
from app.records import ContextRecord, Item, Task
from app.services.catalog import Catalog, Snapshot
from app.services.export import bullets_in_order, section_order
from app.services.ranking import Ranked, Ranker, Wish
from app.services.recorder import Recorder
from app.services.stages import stage
from app.services.tasks import ReadTask, TaskReader
from app.services.turns import Turns
from app.vocabulary import MEM0, ItemKind, LeftOutReason

MEMORIES_SHOWN = 10
"""A list of memories shows at most this many."""

ITEMS_SHOWN = 10
"""A context of ranked items of every kind shows at most this many."""


@dataclass(frozen=True, slots=True)
class ContextWish:
    """What is asked for."""

    task: Task
    reader: str
    policy: str
    token_budget: int | None = None
    hardware: str | None = None
    exclude_source_problem: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """A rendered context, and what is in it."""

    context_id: str
    policy: str
    reader: str
    text: str
    item_ids: tuple[str, ...]
    tokens: int
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    """What a caller should know about how the answer came about."""

    @property
    def left_out_counts(self) -> dict[str, int]:
        """Reason -> number of items."""
        return {reason.value: 0 for reason in LeftOutReason} | Counter(entry.reason.value for entry in self.left_out)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A text with the ids of its items."""

    text: str
    item_ids: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


class ContextRenderer:
    """Renders contexts from the present snapshot."""

    def __init__(
        self, catalog: Catalog, tasks: TaskReader, ranker: Ranker, recorder: Recorder[ContextRecord], turns: Turns
    ) -> None:
        self._turns = turns
        self._recorder = recorder
        self._catalog = catalog
        self._tasks = tasks
        self._ranker = ranker

    def render(self, wish: ContextWish) -> Context:
        """The context; UnknownPolicy, UnknownProblem or BudgetTooSmall say what is wrong with the wish."""
        with self._turns.taken():
            return self._rendered(wish)

    def _rendered(self, wish: ContextWish) -> Context:
        policy = policy_named(wish.policy)
        with stage("snapshot"):
            snapshot = self._catalog.current()
        with stage("reading"):
            task = self._tasks.read(wish.task, snapshot.corpus)
        job = _Job(policy, wish, snapshot, task, self._ranker)
        with stage("rendering"):
            shown = job.shown()
        context = Context(
            context_id=f"ctx-{uuid.uuid4().hex}",
            policy=policy.name,
            reader=wish.reader,
            text=shown.text,
            item_ids=shown.item_ids,
            tokens=count_tokens(shown.text),
            left_out=shown.left_out,
            notes=tuple(job.notes()),
        )
        self._recorder.keep(
            ContextRecord(
                id=context.context_id,
                policy=context.policy,
                reader=wish.reader,
                task=task.described(),
                item_ids=context.item_ids,
                tokens=context.tokens,
                left_out=context.left_out_counts,
                at=datetime.now(UTC),
            )
        )
        return context


@dataclass(slots=True)
class _Job:
    """One wish on its way to a text."""

    policy: Policy
    wish: ContextWish
    snapshot: Snapshot
    task: ReadTask
    ranker: Ranker

    def shown(self) -> _Shown:
        """The text that the policy's layout gives."""
        match self.policy.layout:
            case Layout.EMPTY:
                return _Shown("")
            case Layout.PRINCIPLES:
                return self._plain(self.snapshot.wording.principles)
            case Layout.PLAYBOOK:
                return self._playbook()
            case Layout.MEMORIES:
                return self._memories()
            case Layout.RANKED:
                return self._ranked_items()
            case Layout.KERNEL_MEMORY:
                return self._kernel_memory()

    def notes(self) -> Iterable[str]:
        """Remarks on the reading of the task and on the reader."""
        yield from self.task.notes
        if (self.policy.solo or self.policy.own_recipes_only) and not self.snapshot.memory.baselines.knows(
            self.wish.reader
        ):
            yield (
                f"{self.wish.reader} has no solo baselines: estimates are averages over all readers. "
                "Send its own by PUT /v1/readers/{name}/baselines."
            )

    def _plain(self, text: str) -> _Shown:
        best_within_budget(text, [], self.wish.token_budget, "")
        return _Shown(text)

    def _playbook(self) -> _Shown:
        corpus, wording = self.snapshot.corpus, self.snapshot.wording
        order = section_order(corpus)
        bullets, leaks = self._less_own(bullets_in_order(corpus))
        left_out: list[LeftOut] = leaks
        if self.wish.token_budget is not None:
            frame = render_playbook(wording.playbook_head, order or sorted({b.section for b in bullets}), [])
            entries = [(item.id, playbook_entry(item)) for item in self._best_first(bullets)]
            kept, dropped = best_within_budget(frame, entries, self.wish.token_budget, "\n")
            bullets = [item for item in bullets if item.id in kept]
            left_out = [*leaks, *dropped]
        return _Shown(render_playbook(wording.playbook_head, order, bullets), _ids(bullets), tuple(left_out))

    def _memories(self) -> _Shown:
        corpus = self.snapshot.corpus
        recorded = corpus.rankings.get((MEM0, self.task.problem.id)) if self.task.problem else None
        if recorded is not None:
            ranked = [corpus.items[item_id] for item_id in recorded if corpus.items[item_id].shown]
        else:
            ranked = [entry.item for entry in self._fresh(frozenset({ItemKind.MEMORY}), MEMORIES_SHOWN)]
        return self._list(ranked, self.snapshot.wording.memories_head, memory_entry, render_memories, "\n")

    def _ranked_items(self) -> _Shown:
        ranked = [entry.item for entry in self._fresh(frozenset(ItemKind), ITEMS_SHOWN)]
        return self._list(ranked, self.snapshot.wording.search_head, ranked_entry, render_ranked, "\n\n")

    def _list(
        self,
        ranked: Sequence[Item],
        head: str,
        entry: Callable[[Item], str],
        render: Callable[[str, Iterable[Item]], str],
        separator: str,
    ) -> _Shown:
        kept_items, leaks = self._less_own(ranked)
        entries = [(item.id, entry(item)) for item in kept_items]
        kept, dropped = best_within_budget(head, entries, self.wish.token_budget, separator)
        chosen = [item for item in kept_items if item.id in kept]
        return _Shown(render(head, chosen), _ids(chosen), (*leaks, *dropped))

    def _kernel_memory(self) -> _Shown:
        snapshot, policy, wish = self.snapshot, self.policy, self.wish
        selection = select(
            policy,
            snapshot.memory,
            self.task.target,
            wish.reader,
            ranking=self._places() if policy.order is Order.RETRIEVAL else None,
            measurements=measured_on(snapshot.measured, wish.hardware),
        )
        selection = self._selection_less_own(selection)
        writer = snapshot.memory.writer
        known_writer = snapshot.corpus.readers.get(writer or "")
        scene = Scene(
            policy=policy,
            wording=snapshot.wording,
            family=self.task.target.family,
            problems=snapshot.corpus.problems,
            reader_is_writer=writer == wish.reader,
            writer=(known_writer.display_name if known_writer else None) or writer or "an unnamed model",
        )
        text, selection = cut_to_budget(selection, wish.token_budget, lambda chosen: render_memory(chosen, scene))
        sections = (selection.lessons, selection.pitfalls, selection.recipes, selection.kernels)
        return _Shown(text, _ids(shown.item for section in sections for shown in section), selection.left_out)

    def _fresh(self, kinds: frozenset[ItemKind], count: int) -> Sequence[Ranked]:
        wish = Wish(
            top_k=count,
            kinds=kinds,
            reader=self.wish.reader,
            hardware=self.wish.hardware,
            exclude_source_problem=self.wish.exclude_source_problem,
        )
        return self.ranker.rank(self.snapshot, self.task, wish).results

    def _best_first(self, bullets: Sequence[Item]) -> list[Item]:
        """All bullets: those that a fresh ranking finds first, then the others in the playbook's order."""
        wish = Wish(top_k=len(bullets), kinds=frozenset({ItemKind.BULLET}), threshold=0.0, diversify=False)
        ranked = self.ranker.rank(self.snapshot, self.task, replace(wish, reader=self.wish.reader)).results
        places = {entry.item.id: place for place, entry in enumerate(ranked)}
        return sorted(bullets, key=lambda item: places.get(item.id, len(places)))

    def _places(self) -> Mapping[str, int]:
        kinds = frozenset({ItemKind.RECIPE, ItemKind.KERNEL})
        wish = Wish(top_k=1000, kinds=kinds, threshold=0.0, diversify=False, exclude_source_problem=False)
        ranked = self.ranker.rank(self.snapshot, self.task, wish).results
        return {entry.item.id: place for place, entry in enumerate(ranked)}

    def _own(self, item: Item) -> LeftOut | None:
        problem = self.task.target.problem_id
        if not self.wish.exclude_source_problem or problem is None or item.source_problem != problem:
            return None
        return LeftOut(item.id, LeftOutReason.LEAKAGE, f"learned from {problem}, the problem under test")

    def _less_own(self, items: Iterable[Item]) -> tuple[list[Item], list[LeftOut]]:
        kept, leaks = [], []
        for item in items:
            leak = self._own(item)
            if leak is None:
                kept.append(item)
            else:
                leaks.append(leak)
        return kept, leaks

    def _selection_less_own(self, selection: Selection) -> Selection:
        leaks = [
            leak for shown in (*selection.lessons, *selection.pitfalls) if (leak := self._own(shown.item)) is not None
        ]
        gone = {leak.item_id for leak in leaks}
        return replace(
            selection,
            lessons=tuple(shown for shown in selection.lessons if shown.item.id not in gone),
            pitfalls=tuple(shown for shown in selection.pitfalls if shown.item.id not in gone),
            left_out=(*selection.left_out, *leaks),
        )


def _ids(items: Iterable[Item]) -> tuple[str, ...]:
    return tuple(item.id for item in items)
