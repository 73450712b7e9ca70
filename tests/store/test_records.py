"""When items apply: curated records are imported, checked, versioned, and used by the ranking."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.memory.derivation_recipe import fingerprint
from app.memory.identity import text_hash
from app.retrieval.hashing import HashingEmbedder
from app.services.assembly import assembled
from app.services.bundled import curated_records
from app.services.load import load
from app.settings import Settings
from app.store import corpus, derived, history
from app.store.database import Database
from tests.conftest import SHARED


def imported(database: Database, folder: Path, *lines: dict[str, Any]) -> Any:
    file = folder / "records.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    return load(database, HashingEmbedder(), [file])


def test_items_take_the_bundled_record_of_their_text_and_only_of_their_text(seeded_settings: Settings) -> None:
    database = Database(seeded_settings)
    with database.read() as session:
        whole = corpus.items_since(session, -1)
    having = [item for item in whole if item.applies_when is not None]
    assert len(having) == 125
    assert all(curated_records()[text_hash(item.text)] == item.applies_when for item in having)
    database.dispose()


def test_curated_records_of_the_same_items_bring_nothing_new(seeded_settings: Settings) -> None:
    records = SHARED / "data" / "applies_when.jsonl"
    if not records.exists():
        pytest.skip("the curated records are not beside this checkout")
    database = Database(seeded_settings)
    report = load(database, HashingEmbedder(), [records])
    assert (report.faults, report.written, report.embedded) == ([], 0, 0)
    database.dispose()


def test_a_curated_record_makes_a_version(starter_settings: Settings, tmp_path: Path) -> None:
    database = Database(starter_settings)
    record = {"id": "kpb-00001", "generic": True}
    assert imported(database, tmp_path, record).written == 1
    assert imported(database, tmp_path, record).written == 0
    with database.read() as session:
        revisions = history.revisions(session, "kpb-00001")
    assert [revision.version for revision in revisions] == [1, 2]
    assert revisions[1].state["applies_when"]["generic"] is True
    database.dispose()


def test_a_record_outside_the_vocabulary_or_of_no_item_is_refused(starter_settings: Settings, tmp_path: Path) -> None:
    database = Database(starter_settings)
    report = imported(
        database,
        tmp_path,
        {"id": "kpb-00001", "generic": False, "required": ["convolute"]},
        {"id": "kpb-99999", "generic": True},
        {"id": "kpb-00002", "generic": True, "colour": "red"},
    )
    assert report.written == 0
    assert [fault.line for fault in report.faults] == [1, 2, 3]
    assert "convolute" in report.faults[0].reason
    assert "kpb-99999" in report.faults[1].reason
    assert "colour" in report.faults[2].reason
    database.dispose()


def test_a_curated_record_moves_the_ranking(starter_settings: Settings, tmp_path: Path) -> None:
    services = assembled(starter_settings)
    from app.records import Task
    from app.services.ranking import Wish

    def place(item_id: str) -> float:
        found = services.search.find(Task(text="logsumexp over rows"), Wish(top_k=200, threshold=0, diversify=False))
        return {entry.item.id: entry.score for entry in found.results}[item_id]

    before = place("kpb-00023")
    record = {"generic": False, "families": ["reduction"], "anchor": ["logsumexp"], "required": ["logsumexp"]}
    imported(services.database, tmp_path, {"id": "kpb-00023", **record})
    assert place("kpb-00023") != before


def test_derived_records_follow_texts_and_vocabulary(starter_settings: Settings) -> None:
    services = assembled(starter_settings)
    with services.database.read() as session:
        assert derived.missing(session, fingerprint(), 10) == []
        assert len(derived.missing(session, "another vocabulary", 10)) == 10
        assert len(derived.load(session, changed_after=-1)) == len(corpus.items_since(session, -1))
    services.database.dispose()
