"""Importing the seed documents: what comes out, that it comes out once, and that nothing is lost."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.memory.damage import damage
from app.retrieval.hashing import HashingEmbedder
from app.services import curation
from app.services.catalog import Catalog
from app.services.curation import Curator
from app.services.export import export_ace, export_jsonl
from app.services.load import ImportReport, load
from app.store import corpus, embeddings, history, items
from app.store.database import Database
from app.vocabulary import ItemKind

Import = Any


def _import(database: Database, *paths: Path) -> ImportReport:
    return load(database, HashingEmbedder(), list(paths))


def _catalog(database: Database, tmp_path: Path) -> Catalog:
    return Catalog(database, HashingEmbedder(), tmp_path / "vectors.npz")


def test_seed_documents_yield_the_known_numbers_of_rows(any_database: Database, seeds: list[Path]) -> None:
    report = _import(any_database, *seeds)
    assert report.complete
    assert report.faults == []
    with any_database.read() as session:
        assert items.counts(session) == {
            "bullet": 76,
            "memory": 49,
            "lesson": 14,
            "pitfall": 28,
            "recipe": 21,
            "kernel": 45,
        }
        whole = corpus.items_since(session, -1)
        facts = corpus.facts(session)
    bullets = [item for item in whole if item.kind is ItemKind.BULLET]
    assert (sum(item.helpful for item in bullets), sum(item.harmful for item in bullets)) == (328, 18)
    assert len(facts.readers) == 2
    assert len(facts.rankings) == 20
    advice = [item for item in whole if item.kind in (ItemKind.LESSON, ItemKind.PITFALL)]
    assert sum(bool(item.prohibition) for item in advice) == 8
    assert sum(bool(item.correctness) for item in advice) == 17
    assert sum(item.damage is not None for item in whole) == 3
    assert all(item.kernel for item in whole if item.kind is ItemKind.KERNEL)
    assert report.embedded == len(whole)


def test_a_second_import_writes_and_embeds_nothing(any_database: Database, seeds: list[Path]) -> None:
    _import(any_database, *seeds)
    with any_database.read() as session:
        before = corpus.state(session)
    again = _import(any_database, *seeds)
    assert (again.written, again.embedded, again.faults) == (0, 0, [])
    with any_database.read() as session:
        assert corpus.state(session) == before


def test_the_order_of_the_documents_does_not_matter(database: Database, seeds: list[Path], tmp_path: Path) -> None:
    _import(database, *reversed(seeds))
    again = _import(database, *seeds)
    assert again.written == 0


def test_ids_stay_as_in_the_source_and_are_never_given_again(database: Database, seeds: list[Path]) -> None:
    _import(database, *seeds)
    curator = Curator(database, HashingEmbedder(), "tester")
    curation.retire(curator, "str-00076")
    new = curation.create(curator, ItemKind.BULLET, "A bullet of mine.", {})
    assert new.id == "str-00077"


def test_ace_export_returns_the_playbook_byte_for_byte(
    any_database: Database, seeds: list[Path], seed_documents: list[dict[str, Any]], tmp_path: Path
) -> None:
    _import(any_database, *seeds)
    playbook = next(iter(seed_documents[0]["ace"]["claude-opus-5-5"].values()))
    assert export_ace(_catalog(any_database, tmp_path)) == playbook


def test_an_exported_playbook_imports_to_the_same_playbook(
    database: Database, seeds: list[Path], tmp_path: Path
) -> None:
    _import(database, *seeds)
    exported = export_ace(_catalog(database, tmp_path))
    file = tmp_path / "playbook.txt"
    file.write_bytes(exported.encode())
    assert _import(database, file).written <= 1  # the frame's last line end is noted once
    assert export_ace(_catalog(database, tmp_path)) == exported


def test_jsonl_export_rebuilds_the_corpus_in_a_fresh_database(
    database: Database, any_settings: Any, seeds: list[Path], tmp_path: Path
) -> None:
    _import(database, *seeds)
    file = tmp_path / "corpus.jsonl"
    file.write_text("".join(export_jsonl(_catalog(database, tmp_path / "a"), database)), encoding="utf-8")
    from app.services.migrate import ensure_migrated

    other = Database(any_settings)
    ensure_migrated(other)
    assert _import(other, file).complete
    assert _import(other, file).written == 0
    again = "".join(export_jsonl(_catalog(other, tmp_path / "b"), other))
    assert sorted(again.splitlines()) == sorted(file.read_text(encoding="utf-8").splitlines())
    other.dispose()


def test_counters_are_the_sums_of_their_events(database: Database, seeds: list[Path]) -> None:
    _import(database, *seeds)
    with database.read() as session:
        sums = history.sums(session)
        whole = corpus.items_since(session, -1)
    assert {item.id: (item.helpful, item.harmful) for item in whole if item.helpful or item.harmful} == dict(sums)


def test_a_text_that_was_edited_here_survives_a_new_import(database: Database, seeds: list[Path]) -> None:
    _import(database, *seeds)
    curator = Curator(database, HashingEmbedder(), "tester")
    damaged = next(item for item in _all(database) if item.damage is not None)
    repaired = curation.edit(curator, damaged.id, damaged.version, {"text": "A repaired text."})
    assert repaired.damage is None
    _import(database, *seeds)
    assert {item.id: item.text for item in _all(database)}[damaged.id] == "A repaired text."
    assert len(_all(database)) == 233


def test_more_votes_in_the_source_are_added_not_counted_twice(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "playbook.txt"
    file.write_text("## strategies\n[str-00001] helpful=3 harmful=1 :: Text.\n")
    _import(database, file)
    curator_vote = 5
    with database.write() as session:
        items.move_counters(session, "str-00001", helpful=curator_vote, harmful=0, changed_in=corpus.advance(session))
    file.write_text("## strategies\n[str-00001] helpful=4 harmful=1 :: Text.\n")
    _import(database, file)
    assert [(item.helpful, item.harmful) for item in _all(database)] == [(4 + curator_vote, 1)]


def test_a_bullet_that_the_source_changed_is_changed_here(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "playbook.txt"
    file.write_text("[str-00001] helpful=3 harmful=1 :: Old.\n")
    _import(database, file)
    file.write_text("[str-00001] helpful=3 harmful=1 :: New.\n[str-00002] helpful=0 harmful=0 :: Other.\n")
    _import(database, file)
    assert [(item.id, item.text, item.version) for item in _all(database)] == [
        ("str-00001", "New.", 2),
        ("str-00002", "Other.", 1),
    ]
    with database.read() as session:
        assert embeddings.missing(session, HashingEmbedder.model_id, 10) == []


def test_the_starter_corpus_is_taken_whole(starter_settings: Any) -> None:
    database = Database(starter_settings)
    whole = _all(database)
    assert sum(item.kind is ItemKind.BULLET for item in whole) >= 15
    assert all(damage(item.text) is None and item.id.startswith("kpb-") for item in whole)
    database.dispose()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"   \n\n", "empty"),
        (b"\x00\x01\x02binary", "binary"),
        (b"[str-1] helpful=1 harmful=0 :: caf\xe9", "UTF-8"),
        (b'{"ace": {"reader": {"L2_020": "cut sho', "cut short"),
        (b'{"ace": ["no", "readers"]}', "policy"),
    ],
)
def test_an_unreadable_file_is_named_with_its_reason_and_leaves_nothing(
    database: Database, tmp_path: Path, content: bytes, reason: str
) -> None:
    file = tmp_path / "import.txt"
    file.write_bytes(content)
    report = _import(database, file, tmp_path / "missing.txt")
    assert len(report.unreadable) == 2
    assert reason in report.unreadable[0]
    assert "No such file" in report.unreadable[1]
    assert _all(database) == []


def test_bad_lines_of_jsonl_are_reported_one_by_one_and_the_others_taken(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "items.jsonl"
    good = {"type": "item", "kind": "bullet", "section": "strategies", "text": "Good."}
    lines = [
        json.dumps(good),
        "{not json",
        json.dumps({**good, "helpful": -1, "text": "Negative."}),
        json.dumps({**good, "colour": "red", "text": "Unknown field."}),
        json.dumps({"type": "ranking", "source": "mem0", "problem": "L1_001", "item_ids": ["mem-99999"]}),
        json.dumps({**good, "text": "Also good."}),
    ]
    file.write_text("\n".join(lines))
    report = _import(database, file)
    assert [fault.line for fault in report.faults] == [2, 3, 4, 0]
    assert "mem-99999" in report.faults[-1].reason
    assert sorted(item.text for item in _all(database)) == ["Also good.", "Good."]


def _all(database: Database) -> list[Any]:
    with database.read() as session:
        return corpus.items_since(session, -1)
