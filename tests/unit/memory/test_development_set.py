"""Rules that need the shared seed documents and queries; skipped where they are not beside the repository."""

from __future__ import annotations

import csv

import pytest

from app.memory.applies_when import parse_record
from app.memory.derivation import derive, merge
from app.memory.ranking import CompiledItems, ItemFacts, compile_items, rank
from app.memory.task import read_task
from eval.quality.data import ROOT, WORDINGS, Collection, DataMissing, find_shared, load

OFF_TOPIC = ROOT / "eval" / "quality" / "data" / "off_topic.txt"


@pytest.fixture(scope="module")
def collection() -> Collection:
    try:
        return load(find_shared())
    except DataMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def items(collection: Collection) -> CompiledItems:
    facts = [
        ItemFacts(
            item.id, merge(collection.records[item.id], derive(item.text, None, None)), item.helpful, item.harmful
        )
        for item in collection.items
    ]
    return compile_items(facts)


def test_every_curated_record_is_sound_and_belongs_to_an_item(collection: Collection) -> None:
    assert {item.id for item in collection.items} == set(collection.records)
    assert len(collection.items) == 125
    for record in collection.records.values():
        assert parse_record(record.to_mapping()) == record


def test_every_development_query_finds_something(collection: Collection, items: CompiledItems) -> None:
    for query in collection.queries:
        for wording in WORDINGS:
            text = query.wordings[wording]
            profile = read_task(None, text) if wording == "code" else read_task(text, None)
            assert rank(profile, items).hits, (query.id, wording)


def test_no_question_about_something_else_finds_anything(items: CompiledItems) -> None:
    questions = OFF_TOPIC.read_text(encoding="utf-8").splitlines()
    assert len(questions) >= 40
    assert [text for text in questions if rank(read_task(text, None), items).hits] == []


def test_the_terse_note_and_the_module_of_a_task_share_seven_of_ten(items: CompiledItems, module: str) -> None:
    note = {hit.id for hit in rank(read_task("convT3d bn avgpool", None), items).hits}
    code = {hit.id for hit in rank(read_task(None, module), items).hits}
    assert len(note & code) >= 7


def test_problem_names_give_the_listed_family() -> None:
    try:
        path = find_shared() / "data" / "problems.csv"
    except DataMissing as missing:
        pytest.skip(str(missing))
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    wrong = [
        row["id"]
        for row in rows
        if read_task(None, None, problem_name=row["name"], level=int(row["level"])).family != row["family"]
    ]
    assert wrong == []
