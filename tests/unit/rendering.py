"""Renders a context from a corpus alone, as the service does from its snapshot."""

from app.memory.families import name_tokens
from app.memory.policies import POLICIES, Layout
from app.memory.rendering import Scene, render_memories, render_memory, render_playbook
from app.memory.selection import KernelMemory, Target, kernel_memory, select
from app.memory.wording import wording_from
from app.records import Corpus
from app.vocabulary import MEM0, ItemKind

_LAST: dict[str, tuple[Corpus, KernelMemory]] = {}


def rendered(corpus: Corpus, policy_name: str, reader: str, problem_id: str) -> str:
    """The context of a known problem."""
    policy, problem, wording = POLICIES[policy_name], corpus.problems[problem_id], wording_from(corpus.wording)
    match policy.layout:
        case Layout.EMPTY:
            return ""
        case Layout.PRINCIPLES:
            return wording.principles
        case Layout.PLAYBOOK:
            bullets = [item for item in corpus.items.values() if item.kind is ItemKind.BULLET]
            return render_playbook(
                wording.playbook_head,
                corpus.wording["playbook_sections"].split("\n"),
                sorted(bullets, key=lambda item: item.position),
            )
        case Layout.MEMORIES:
            ids = corpus.rankings[MEM0, problem_id]
            return render_memories(wording.memories_head, [corpus.items[item_id] for item_id in ids])
        case _:
            memory = _memory(corpus)
            target = Target(problem.id, name_tokens(problem.name), problem.family, problem.level)
            writer = corpus.readers[memory.writer or ""]
            scene = Scene(
                policy,
                wording,
                problem.family,
                corpus.problems,
                memory.writer == reader,
                writer.display_name or writer.name,
            )
            return render_memory(select(policy, memory, target, reader), scene)


def _memory(corpus: Corpus) -> KernelMemory:
    """The grouped memory of a corpus; the last one is kept, since a test renders hundreds of contexts."""
    kept = _LAST.get("memory")
    if kept is None or kept[0] is not corpus:
        kept = _LAST["memory"] = (corpus, kernel_memory(corpus))
    return kept[1]
