"""Makes files of other memory systems with their own code, from texts of ours.

    python -m tests.interop.make_files mem0 FOLDER              # mem0ai 2.2.1
    python -m tests.interop.make_files skillbook FOLDER         # ace-framework 0.13.0
    python -m tests.interop.make_files old-skillbook FOLDER     # ace-framework 0.8.0
    python -m tests.interop.make_files old-playbook FOLDER      # ace-framework 0.2.0
    python -m tests.interop.make_files ace FOLDER CHECKOUT      # the paper's own repository, ace-agent/ace

Each package is imported where it is used, so that the others need not be there. No model and no network takes part.
"""

import ast
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

os.environ["MEM0_TELEMETRY"] = "false"
"""Read when mem0 is imported, wherever that is: no run of ours shall report to anybody."""

MEMORIES: list[tuple[str, dict[str, Any]]] = [
    ("In KernelBench L2_012 the linear layer and the scale fit in one kernel; LeakyReLU costs nothing there.", {}),
    ("Masks on the last block: a load without one reads past the row when the width is no multiple of 64.", {"run": 7}),
    (
        "Two stages of prefetch were slower than one on short rows.\nThe rows have to exceed 4,096 elements.",
        {"tag": "x"},
    ),
    ("Ünïcode stays: ∑ over the last axis, then ÷ by n.", {"problem": "L1_023", "nested": {"deep": [1, None]}}),
]

RULES: list[tuple[str, str, str]] = [
    ("tiling", "Rows are longer than shared memory", "Split each row over two passes and keep sum and squared sum."),
    ("numerics", "Half precision sums drift", "Accumulate in float32; cast on the way out."),
    ("harness", "The timer saw a cold cache", "Warm up before the first timing."),
]


def mem0(folder: Path) -> None:
    """What `get_all` and `history` of a mem0 store give, as JSON."""
    scratch = Path(tempfile.mkdtemp(prefix="mem0-"))
    with patch.dict(os.environ, MEM0_DIR=str(scratch / "home"), OPENAI_API_KEY="unused"):
        _fill_mem0(folder, scratch)


def _fill_mem0(folder: Path, scratch: Path) -> None:
    from mem0 import Memory
    from mem0.embeddings.mock import MockEmbeddings
    from mem0.utils.factory import EmbedderFactory

    create, EmbedderFactory.create = EmbedderFactory.create, lambda *_a, **_k: MockEmbeddings()
    try:
        memory = Memory.from_config(
            {
                "vector_store": {
                    "provider": "qdrant",
                    "config": {"path": str(scratch / "qdrant"), "embedding_model_dims": 10},
                },
                "history_db_path": str(scratch / "history.db"),
            }
        )
    finally:
        EmbedderFactory.create = create
    ids = []
    for text, metadata in MEMORIES:
        added = memory.add(text, user_id="curator", agent_id="writer", metadata=metadata, infer=False)
        ids.append(added["results"][0]["id"])
    memory.update(ids[1], MEMORIES[1][0] + " Seen again on 96.")
    memory.delete(ids[2])
    memory.add(MEMORIES[2][0], user_id="curator", metadata=MEMORIES[2][1], infer=False)
    _write(folder / "mem0_get_all.json", memory.get_all(filters={"user_id": "curator"}, top_k=100))
    _write(folder / "mem0_history.json", [entry for item_id in ids for entry in memory.history(item_id)])


def skillbook(folder: Path) -> None:
    """A skillbook of schema 2, with counters, keywords, sources and a retired skill."""
    from ace.core.skillbook import Skillbook

    book = Skillbook()
    for section, issue, insight in RULES:
        kind = "harness" if section == "harness" else "context"
        source = {"source_system": "runs", "trace_id": section, "epoch": 1, "learning_text": "made up"}
        book.add_skill(kind, issue, keywords=[section, "Half Precision"], insight=insight, insight_source=source)
    first, second, third = (skill.id for skill in book.skills())
    for delta in (1, 1, 1, -1, 0):
        book.tag_skill(first, delta)
    book.tag_skill(second, -1)
    book.mark_used([first, second])
    book.remove_skill(third)
    book.save_to_file(str(folder / "skillbook_0_13.json"))


def old_skillbook(folder: Path) -> None:
    """A skillbook of before schema 2: content, justification, evidence, counters."""
    from ace.skillbook import Skillbook

    book = Skillbook()
    for section, issue, insight in RULES:
        skill = book.add_skill(section, f"{issue}: {insight}", justification=f"Because: {issue}.", evidence="made up")
        book.tag_skill(skill.id, "helpful", 4)
        book.tag_skill(skill.id, "neutral", 2)
    book.tag_skill(skill.id, "harmful")
    book.remove_skill(skill.id, soft=True)
    book.save_to_file(str(folder / "skillbook_0_8.json"))


def old_playbook(folder: Path) -> None:
    """A playbook as ace-framework wrote it at first: bullets in sections, with counters."""
    from ace.playbook import Playbook

    book = Playbook()
    for section, issue, insight in RULES:
        bullet = book.add_bullet(f"{section} rules", f"{issue}. {insight}", metadata={"helpful": 3, "harmful": 1})
        book.tag_bullet(bullet.id, "neutral")
    book.save_to_file(str(folder / "playbook_0_2.json"))


def ace(folder: Path, checkout: Path) -> None:
    """A playbook after rounds of the paper's own curator operations and counter updates."""
    code = _ace_functions(checkout)
    text = "## STRATEGIES & INSIGHTS\n\n## FORMULAS AND CALCULATIONS\n\n## 2D STENCILS\n\n## OTHERS"
    additions = [
        {"type": "ADD", "section": "Strategies & Insights", "content": "Fuse the tail: bias :: scale :: clamp."},
        {"type": "ADD", "section": "formulas_and_calculations", "content": "FLOPs of a GEMM: 2 * m * n * k."},
        {"type": "ADD", "section": "2D stencils", "content": "Halo of one:\n- left and right\n- top and bottom"},
        {"type": "ADD", "section": "nowhere", "content": "A section that is not there leads to OTHERS."},
    ]
    text, next_id = code["apply_curator_operations"](text, additions, 1)
    tags = [{"id": "sai-00001", "tag": "helpful"}, {"bullet": "2s-00003", "tag": "helpful"}]
    text = code["update_bullet_counts"](text, tags)
    text = code["update_bullet_counts"](text, [{"id": "fac-00002", "tag": "harmful"}, {"id": "x-1", "tag": "neutral"}])
    more = [{"type": "ADD", "section": "OTHERS", "content": "Later bullets go on counting."}]
    text, _ = code["apply_curator_operations"](text, more, next_id)
    (folder / "ace_playbook.txt").write_text(text, encoding="utf-8")


def _ace_functions(checkout: Path) -> dict[str, Any]:
    """The playbook functions of the checkout, without the packages that its other modules ask for."""
    names: dict[str, Any] = {}
    for file, wanted in (("utils.py", {"get_section_slug"}), ("playbook_utils.py", None)):
        tree = ast.parse((checkout / file).read_text(encoding="utf-8"))
        tree.body = [
            node for node in tree.body if isinstance(node, ast.FunctionDef) and (wanted is None or node.name in wanted)
        ]
        exec(compile("import re, json", file, "exec"), names)
        exec(compile(tree, file, "exec"), names)
    return names


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    command, folder, *rest = sys.argv[1:]
    makers = {"mem0": mem0, "skillbook": skillbook, "old-skillbook": old_skillbook, "old-playbook": old_playbook}
    if command == "ace":
        ace(Path(folder), Path(rest[0]))
    else:
        makers[command](Path(folder))
