"""Files that mem0, ace-framework and ACE made themselves import without loss, and a second time without effect.

The files of `tests/interop/files` were made by those packages (see its README); where a package is installed, the same
is shown for files that it makes now.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.records import Item
from app.retrieval.hashing import HashingEmbedder
from app.services.load import ImportReport, load
from app.store import corpus
from app.store.database import Database
from app.vocabulary import ItemKind, ItemStatus
from tests.interop import make_files

FILES = Path(__file__).with_name("files")


def imported(database: Database, *files: Path) -> list[Item]:
    """The items after an import that took everything, and a second one that changed nothing."""
    report = load(database, HashingEmbedder(), list(files))
    assert report.complete, (report.unreadable, report.faults)
    again = load(database, HashingEmbedder(), list(files))
    assert (again.written, again.embedded) == (0, 0)
    return items(database)


def items(database: Database) -> list[Item]:
    with database.read() as session:
        return sorted(corpus.items_since(session, -1), key=lambda item: item.position)


def assert_mem0(database: Database, folder: Path) -> None:
    memories = {
        item.provenance["source_ids"][0]: item
        for item in imported(database, folder / "mem0_get_all.json", folder / "mem0_history.json")
    }
    kept = json.loads((folder / "mem0_get_all.json").read_text())["results"]
    assert len(kept) == len(make_files.MEMORIES)
    for entry in kept:
        item = memories[entry["id"]]
        assert (item.kind, item.text, item.status) == (ItemKind.MEMORY, entry["memory"], ItemStatus.ACTIVE)
        told = {name: value for name, value in entry.items() if value and name not in ("id", "memory")}
        assert {name: item.provenance[name] for name in told} == told
    deleted = [item for item in memories.values() if item.status is ItemStatus.RETIRED]
    history = json.loads((folder / "mem0_history.json").read_text())
    assert {item.provenance["source_ids"][0] for item in deleted} <= {entry["memory_id"] for entry in history}
    assert {item.source_problem for item in memories.values()} == {None, "L2_012", "L1_023"}


def assert_skillbook(database: Database, file: Path, texts: list[str], votes: list[tuple[int, int]]) -> None:
    found = imported(database, file)
    document = json.loads(file.read_text())
    skills = document.get("skills") or document["bullets"]
    assert [item.text for item in found] == texts
    assert [(item.helpful, item.harmful) for item in found] == votes
    assert [item.section for item in found] == [skill["section"] for skill in skills.values()]
    for item, (key, skill) in zip(found, skills.items(), strict=True):
        assert item.provenance["skill"] == key
        rest = {"keywords", "occurrences", "used_count", "neutral_count", "neutral", "justification", "evidence"}
        told = {name: skill[name] for name in rest & skill.keys() if skill[name] or skill[name] == 0}
        assert {name: item.provenance[name] for name in told} == told


RULES = make_files.RULES


def test_a_mem0_store_imports_without_loss(any_database: Database) -> None:
    assert_mem0(any_database, FILES)


def test_a_skillbook_of_schema_2_imports_without_loss(database: Database) -> None:
    texts = [f"{issue}\n{insight}" for _, issue, insight in RULES]
    assert_skillbook(database, FILES / "skillbook_0_13.json", texts, [(3, 1), (0, 1), (0, 0)])
    assert [item.status for item in items(database)] == ["active", "active", "retired"]


def test_older_skillbooks_import_with_their_counters(database: Database) -> None:
    texts = [f"{issue}: {insight}" for _, issue, insight in RULES]
    assert_skillbook(database, FILES / "skillbook_0_8.json", texts, [(4, 0), (4, 0), (4, 1)])
    assert [item.status for item in items(database)] == ["active", "active", "retired"]


def test_the_first_playbooks_of_ace_framework_import_with_their_counters(database: Database) -> None:
    texts = [f"{issue}. {insight}" for _, issue, insight in RULES]
    assert_skillbook(database, FILES / "playbook_0_2.json", texts, [(3, 1), (3, 1), (3, 1)])


def test_a_playbook_of_the_papers_own_code_imports_without_loss(any_database: Database) -> None:
    found = imported(any_database, FILES / "ace_playbook.txt")
    assert [(item.id, item.section, item.helpful, item.text) for item in found] == [
        ("sai-00001", "STRATEGIES & INSIGHTS", 1, "Fuse the tail: bias :: scale :: clamp."),
        ("calc-00002", "FORMULAS AND CALCULATIONS", 0, "FLOPs of a GEMM: 2 * m * n * k."),
        ("str-00001", "2D STENCILS", 1, "Halo of one:\n- left and right\n- top and bottom"),
        ("misc-00004", "OTHERS", 0, "A section that is not there leads to OTHERS."),
        ("misc-00005", "OTHERS", 0, "Later bullets go on counting."),
    ]
    assert found[2].provenance["source_ids"] == ["2s-00003"]


def test_two_skillbooks_with_the_same_ids_do_not_overwrite_each_other(database: Database, tmp_path: Path) -> None:
    document = json.loads((FILES / "skillbook_0_13.json").read_text())
    for number, skill in enumerate(document["skills"].values()):
        skill.update(issue=f"Another issue {number}", created_at="2026-01-01T00:00:00+00:00")
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document))
    assert len(imported(database, FILES / "skillbook_0_13.json", other)) == 2 * len(RULES)


def test_a_text_that_changed_in_its_source_is_an_update_and_new_votes_are_added(
    database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "skillbook.json"
    file.write_text((FILES / "skillbook_0_13.json").read_text())
    before = imported(database, file)
    document = json.loads(file.read_text())
    skill = document["skills"]["context-00001"]
    skill.update(insight="One pass is enough.", helpful_count=8)
    file.write_text(json.dumps(document))
    after = imported(database, file)
    assert [item.id for item in after] == [item.id for item in before]
    assert (after[0].text.endswith("One pass is enough."), after[0].helpful, after[0].version) == (True, 8, 2)


BAD: list[tuple[str, Any, str]] = [
    ("votes", {"skills": {"a-1": {"content": "x", "helpful": -1}}, "sections": {}, "next_id": 1}, "a-1: helpful"),
    ("shape", {"skills": {"a-1": "text"}, "sections": {}, "next_id": 1}, "a-1 is not an object"),
    ("blank", {"skills": {"a-1": {"content": " "}}, "sections": {}, "next_id": 1}, "has no text"),
    ("no text", {"results": [{"id": "u", "memory": None}]}, "entry 1 has no text"),
    ("graph", {"results": [], "relations": [{"source": "a"}]}, "1 relations"),
    ("long", {"results": [{"id": "u", "memory": "x" * 100_001}]}, "longer than 100000"),
]


@pytest.mark.parametrize(("name", "document", "reason"), BAD, ids=[case[0] for case in BAD])
def test_entries_that_cannot_be_taken_are_named(
    database: Database, tmp_path: Path, name: str, document: Any, reason: str
) -> None:
    file = tmp_path / "file.json"
    file.write_text(json.dumps(document, indent=1))
    report = load(database, HashingEmbedder(), [file])
    assert not report.complete
    assert reason in report.faults[0].reason


def test_the_line_of_a_fault_is_the_line_of_its_entry(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "book.json"
    file.write_text('{\n"skills": {\n"a-1": {"content": "x"},\n"a-2": {"content": ""}\n},\n"next_id": 3}')
    assert [fault.line for fault in _report(database, file).faults] == [4]


def test_memories_that_say_the_same_are_one_item_with_all_their_ids(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "twins.json"
    file.write_text(json.dumps([{"id": "a", "memory": "Same."}, {"id": "b", "memory": "Same. "}]))
    [item] = imported(database, file)
    assert item.provenance["source_ids"] == ["a", "b"]
    assert "says the same as a" in _report(database, file).faults[0].reason


def _report(database: Database, file: Path) -> ImportReport:
    return load(database, HashingEmbedder(), [file])


PACKAGES: list[tuple[str, str, Callable[[Path], None]]] = [
    ("mem0", "mem0ai", make_files.mem0),
    ("ace.core.skillbook", "ace-framework", make_files.skillbook),
]


@pytest.mark.parametrize(("module", "package", "make"), PACKAGES, ids=[name for name, *_ in PACKAGES])
def test_what_the_installed_package_writes_now_imports_without_loss(
    database: Database, tmp_path: Path, module: str, package: str, make: Callable[[Path], None]
) -> None:
    pytest.importorskip(module, reason=f"{package} is not installed: pip install 'kernel-playbook[interop]'")
    make(tmp_path)
    if module == "mem0":
        assert_mem0(database, tmp_path)
    else:
        texts = [f"{issue}\n{insight}" for _, issue, insight in RULES]
        assert_skillbook(database, tmp_path / "skillbook_0_13.json", texts, [(3, 1), (0, 1), (0, 0)])
