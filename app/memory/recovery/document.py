"""One document of rendered contexts, turned into drafts of rows."""

import re
from collections.abc import Mapping, Sequence

from app.memory.drafts import DocumentDraft, ItemDraft
from app.memory.formats.ace import AceReader
from app.memory.formats.memories import MEMORY_SOURCE, read_memories
from app.memory.policies import Layout
from app.memory.recovery.baselines import baselines
from app.memory.recovery.items import advice_drafts, kernel_drafts, recipe_drafts
from app.memory.recovery.observations import Document, Observations, observe
from app.memory.recovery.wording import recover_wording
from app.records import Item, LineFault, Problem, Reader, RecordedRanking
from app.vocabulary import MEM0


def recover(
    document: Document, problems: Mapping[str, Problem], file: str, known: Sequence[Item] = ()
) -> DocumentDraft:
    """Rows from rendered contexts alone.

    `problems` must know the problems by id, with name, level and family; `file` names the document in faults; `known`
    are the items that earlier documents brought: they take part where an order is worked out.
    """
    seen = observe(document, problems, file)
    wording = recover_wording(seen)
    solo, contradictions = baselines(seen, problems, file)
    draft = DocumentDraft(file, wording=dict(wording.phrases), baselines=solo, faults=[*seen.faults, *contradictions])
    memory = [
        *advice_drafts(seen, known),
        *recipe_drafts(seen, problems, known),
        *kernel_drafts(seen, problems, known),
    ]
    for item in memory:
        item.writer = wording.writer
    draft.items.extend(memory)
    _read_playbooks(seen, draft)
    _read_memories(seen, draft)
    names = {wording.writer: wording.display_name}
    draft.readers.extend(Reader(name, names.get(name)) for name in seen.readers)
    return draft


def _read_playbooks(seen: Observations, draft: DocumentDraft) -> None:
    """Bullets of every distinct playbook; the first one that shows a bullet counts."""
    bullets: dict[str, ItemDraft] = {}
    for text in dict.fromkeys(seen.texts.get(Layout.PLAYBOOK, {}).values()):
        reader = AceReader(draft.file)
        for bullet in reader.read(text.split("\n")):
            first = bullets.setdefault(bullet.id or bullet.source_ids[0], bullet)
            if first.text != bullet.text:
                draft.faults.append(
                    LineFault(draft.file, 0, f"{bullet.id} differs between playbooks; the first counts")
                )
        draft.faults.extend(reader.reading.faults)
        draft.wording.setdefault("playbook_head", reader.reading.head.strip("\n"))
        draft.wording.setdefault("playbook_sections", "\n".join(reader.reading.sections))
    draft.items.extend(bullets.values())


def _read_memories(seen: Observations, draft: DocumentDraft) -> None:
    """Memories, and the ranking that each problem shows."""
    memories: dict[str, ItemDraft] = {}
    rankings: dict[str, tuple[str, ...]] = {}
    for (_, _, problem), text in seen.texts.get(Layout.MEMORIES, {}).items():
        head, shown = read_memories(text)
        draft.wording.setdefault("memories_head", head)
        for memory in shown:
            first = memories.setdefault(memory.id or "", memory)
            if first.text != memory.text:
                draft.faults.append(LineFault(draft.file, 0, f"{memory.id} differs between contexts; the first counts"))
        ids = tuple(memory.id or "" for memory in shown)
        if rankings.setdefault(problem, ids) != ids:
            draft.faults.append(
                LineFault(draft.file, 0, f"{problem}: readers see different rankings; the first counts")
            )
    for memory in memories.values():
        source = re.match(MEMORY_SOURCE, memory.text)
        memory.source_problem = source["problem"] if source else None
    draft.items.extend(sorted(memories.values(), key=lambda memory: memory.id or ""))
    draft.rankings.extend(RecordedRanking(MEM0, problem, ids) for problem, ids in rankings.items())
