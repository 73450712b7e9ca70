"""Tools that read: search, contexts, items, kernels, and what there is."""

from collections import Counter
from typing import Annotated

from pydantic import Field

from app.errors import InvalidInput, UnknownItem
from app.mcp.entry import Call, Desk
from app.mcp.shapes import (
    ContextAnswer,
    Hit,
    ItemAnswer,
    KernelAnswer,
    KernelLine,
    KernelList,
    Measured,
    SearchAnswer,
    Stats,
    short,
)
from app.memory.policies import POLICIES
from app.records import Item, Task
from app.services import listing
from app.services.catalog import Snapshot
from app.services.context import ContextWish
from app.services.ranking import Wish
from app.vocabulary import ItemKind, ItemStatus, Scope

TaskWords = Annotated[
    str | None,
    Field(max_length=200_000, description="The task in words, or a terse note such as 'convT3d bn avgpool'."),
]
TaskCode = Annotated[
    str | None, Field(max_length=200_000, description="A PyTorch reference module; it is read, never executed.")
]
ProblemId = Annotated[str | None, Field(max_length=200, description="A known problem, such as L2_020.")]
Reader = Annotated[str | None, Field(max_length=200, description="The model that will read the answer: yours.")]
Hardware = Annotated[str | None, Field(max_length=200, description="Your GPU, such as 'NVIDIA H200'.")]


class Reading:
    """Each method is a tool; its docstring is what an agent reads of it."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def search_playbook(
        self,
        call: Call,
        task: TaskWords = None,
        code: TaskCode = None,
        problem_id: ProblemId = None,
        kinds: Annotated[list[ItemKind] | None, Field(description="Only these kinds; all if left out.")] = None,
        top_k: Annotated[int, Field(ge=1, le=50)] = 5,
        full_text: Annotated[bool, Field(description="Whole texts instead of their beginnings.")] = False,
        reader: Reader = None,
        hardware: Hardware = None,
    ) -> SearchAnswer:
        """Finds what is known that helps with a GPU kernel task: strategies, pitfalls, recipes, kernels, best first."""
        with self._desk.admitted(call, Scope.READ) as (services, _):
            filters = {"kind": {"in": [kind.value for kind in kinds]}} if kinds else None
            threshold = services.settings.threshold
            wish = Wish(top_k=top_k, threshold=threshold, filters=filters, reader=reader, hardware=hardware)
            found = services.search.find(_task(problem_id, task, code), wish)
            hits = [
                Hit(
                    id=entry.item.id,
                    kind=entry.item.kind,
                    score=round(entry.score, 3),
                    text=entry.item.text if full_text else short(entry.item.text),
                    helpful=entry.item.helpful,
                    harmful=entry.item.harmful,
                    claimed_speedup=entry.item.claimed_speedup,
                )
                for entry in found.results
            ]
        cut = sum(hit.text.endswith(" …") for hit in hits)
        more = [f"Texts are cut at {cut} of {len(hits)} hits: get_item(id) shows a whole one."] if cut else []
        if len(hits) == top_k:
            more.append(f"There may be more of {found.total_candidates} candidates: raise top_k.")
        if not hits:
            more.append(f"Nothing scores {threshold} or more. Name the operations, or send the module as code.")
        return SearchAnswer(retrieval_id=found.retrieval_id, hits=hits, more=" ".join([*more, *found.notes]))

    def get_context(
        self,
        call: Call,
        reader: Annotated[str, Field(min_length=1, max_length=200, description="The model that will read it: yours.")],
        task: TaskWords = None,
        code: TaskCode = None,
        problem_id: ProblemId = None,
        policy: Annotated[str, Field(description="What is shown and how; stats lists them.")] = "search",
        token_budget: Annotated[int, Field(ge=1, le=200_000, description="Most tokens of the text.")] = 2000,
        hardware: Hardware = None,
    ) -> ContextAnswer:
        """A text to put into the prompt of a task: the items that help, inside a token budget."""
        with self._desk.admitted(call, Scope.READ) as (services, _):
            wish = ContextWish(_task(problem_id, task, code), reader, policy, token_budget, hardware)
            context = services.contexts.render(wish)
        left = {reason: count for reason, count in context.left_out_counts.items() if count}
        more = "; ".join(f"{count} left out for {reason}" for reason, count in left.items())
        hint = f"{more}. A larger token_budget shows more." if left.get("budget") else more
        return ContextAnswer(
            context_id=context.context_id,
            text=context.text,
            items=list(context.item_ids),
            tokens=context.tokens,
            more=" ".join([hint, *context.notes]).strip(),
        )

    def get_item(self, call: Call, id: Annotated[str, Field(max_length=64)]) -> ItemAnswer:
        """One item with its whole text and counters."""
        with self._desk.admitted(call, Scope.READ) as (services, _):
            item = listing.get_item(services.database, id.lower())
            return ItemAnswer.of(item, listing.merged_into(services.database, item.id))

    def list_kernels(
        self,
        call: Call,
        problem_id: ProblemId = None,
        family: Annotated[str | None, Field(max_length=40, description="Such as conv, matmul, norm.")] = None,
        limit: Annotated[int, Field(ge=1, le=100)] = 20,
        after: Annotated[str | None, Field(max_length=64, description="Go on after this id.")] = None,
    ) -> KernelList:
        """Kernels with what they claim and what was measured, without their code."""
        with self._desk.admitted(call, Scope.READ) as (services, _):
            snapshot = services.catalog.current()
        found = [
            item
            for item in snapshot.corpus.items.values()
            if item.kernel is not None
            and item.shown
            and (problem_id is None or item.source_problem == problem_id)
            and (family is None or item.family == family)
        ]
        found.sort(key=lambda item: item.id)
        page = [item for item in found if after is None or item.id > after][:limit]
        rest = bool(page) and page[-1].id != found[-1].id
        more = f"Go on with after={page[-1].id!r}." if rest else "get_kernel(id) shows the code."
        return KernelList(kernels=[_line(item, snapshot) for item in page], total=len(found), more=more)

    def get_kernel(
        self,
        call: Call,
        id: Annotated[str, Field(max_length=64)],
        source: Annotated[bool, Field(description="Whether to show the code.")] = True,
    ) -> KernelAnswer:
        """One kernel with its code, what it claims, and what was measured on each kind of hardware."""
        with self._desk.admitted(call, Scope.READ) as (services, _):
            item = listing.get_item(services.database, id.lower())
            if item.kernel is None:
                raise UnknownItem(f"{item.id} is a {item.kind}, not a kernel. get_item({item.id!r}) shows it.")
            line = _line(item, services.catalog.current()).model_dump()
        return KernelAnswer(
            **{**line, "text": item.text},
            entry_point=item.kernel.entry_point,
            source=item.kernel.source if source else "",
            helpful=item.helpful,
            harmful=item.harmful,
        )

    def stats(self, call: Call) -> Stats:
        """What the playbook holds: items by kind, verified kernels by hardware, policies."""
        with self._desk.admitted(call, Scope.READ) as (services, _):
            snapshot = services.catalog.current()
        items = snapshot.corpus.items.values()
        shown = Counter(item.kind.value for item in items if item.shown)
        return Stats(
            corpus_version=snapshot.version,
            items=dict(shown),
            waiting=sum(item.status is ItemStatus.PENDING for item in items),
            verified={
                hardware: dict(Counter(run.verdict for run in runs.values()))
                for hardware, runs in snapshot.measured.items()
            },
            readers=sorted({baseline.reader for baseline in snapshot.corpus.baselines}),
            policies={policy.name: policy.shows for policy in POLICIES.values()},
        )


def _task(problem_id: str | None, text: str | None, code: str | None) -> Task:
    said = [value for value in (problem_id, text, code) if value is not None and value.strip()]
    if not said:
        raise InvalidInput("Say what the task is: task (words), code (a PyTorch module) or problem_id.")
    return Task(problem_id or None, text or None, code or None)


def _line(item: Item, snapshot: Snapshot) -> KernelLine:
    measured = [Measured.of(runs[item.id]) for _, runs in sorted(snapshot.measured.items()) if item.id in runs]
    return KernelLine(
        id=item.id,
        source_problem=item.source_problem,
        language=item.kernel.language.value if item.kernel else "",
        text=short(item.text),
        claimed_speedup=item.claimed_speedup,
        measured=measured,
    )
