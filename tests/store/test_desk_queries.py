"""What the desk asks of a database, the same on SQLite and PostgreSQL."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from app.records import StoredFinding
from app.retrieval.hashing import HashingEmbedder
from app.services.browsing import ItemOrder, ItemTest, browse
from app.services.bulk import BulkAction, BulkWish, carried_out, planned, taken_back
from app.services.curation import Curator, create, edit
from app.services.findings_queue import queue
from app.services.listing import get_item
from app.services.neighbours import neighbours
from app.services.operations import Operation, apply
from app.services.overview import badges
from app.services.timeline import counter_steps, timeline
from app.store import findings, overview
from app.store.database import Database
from app.vocabulary import FindingState, ItemKind, ItemStatus, OperationKind, Signal


@pytest.fixture
def curator(any_database: Database) -> Curator:
    return Curator(any_database, HashingEmbedder(), "ada")


def filled(curator: Curator) -> list[str]:
    fields = [
        {"section": "a", "family": "conv", "claimed_speedup": Decimal("10.5")},
        {"section": "b", "family": "norm", "claimed_speedup": Decimal("9.2"), "status": ItemStatus.PENDING},
        {"section": "b"},
    ]
    texts = ["A text with 100% and under_score.", "A longer text about norms, see str-00001.", "Short."]
    made = [create(curator, ItemKind.BULLET, text, values) for text, values in zip(texts, fields, strict=True)]
    return [item.id for item in made]


def test_the_list_is_filtered_sorted_and_cut(curator: Curator) -> None:
    ids = filled(curator)
    database = curator.database

    def listed(order: ItemOrder = ItemOrder.ID, **test: object) -> list[str]:
        return [found.item.id for found in browse(database, ItemTest(**test), order, 1).found]  # type: ignore[arg-type]

    assert listed() == ids
    assert listed(statuses=(ItemStatus.PENDING,)) == [ids[1]]
    assert listed(section="b") == ids[1:]
    assert listed(words="100%") == [ids[0]]
    assert listed(words="under_SCORE") == [ids[0]]
    assert listed(words="_") == [ids[0]]
    assert listed(ItemOrder.SPEEDUP) == [ids[0], ids[1], ids[2]]
    assert listed(ItemOrder.LONGEST) == [ids[1], ids[0], ids[2]]
    assert browse(database, ItemTest(), ItemOrder.ID, 2).found == []


def test_votes_counts_and_findings_are_told(curator: Curator) -> None:
    ids = filled(curator)
    apply(curator, [Operation(OperationKind.TAG, id=ids[0], signal=Signal.HELPFUL, count=2, note="why")])
    now = datetime.now(UTC)
    finding = StoredFinding("f1", "near_duplicate", (ids[0], ids[1]), "alike", None, FindingState.OPEN.value, now)
    with curator.database.write() as session:
        findings.put(session, [finding], now)
    with curator.database.read() as session:
        votes = overview.votes_since(session, now - timedelta(days=1))
        naming = overview.findings_naming(session, ids[0])
        other = overview.findings_naming(session, ids[2])
        assert overview.families(session) == ["conv", "norm"]
        assert overview.sections(session) == ["a", "b"]
    assert [(helpful, harmful) for _, helpful, harmful in votes] == [(2, 0)]
    assert [found.id for found in naming] == ["f1"] and other == []
    assert (badges(curator.database).pending, badges(curator.database).findings) == (1, 1)
    page = queue(curator.database, FindingState.OPEN, [], 1)
    assert [item.id for item in page.entries[0].items] == ids[:2]


def test_neighbours_are_found_in_both_directions(curator: Curator) -> None:
    ids = filled(curator)
    first = get_item(curator.database, ids[0])
    assert ids[0] == "str-00001"
    assert [item.id for item in neighbours(curator.database, first).referred_by] == [ids[1]]
    assert [item.id for item in neighbours(curator.database, get_item(curator.database, ids[1])).refers_to] == [ids[0]]


def test_the_timeline_tells_what_changed_and_what_was_counted(curator: Curator) -> None:
    item_id = filled(curator)[0]
    edit(curator, item_id, 1, {"text": "A text with 100% and more."}, "clearer")
    apply(curator, [Operation(OperationKind.TAG, id=item_id, signal=Signal.HARMFUL, note="it lost")])
    history = timeline(curator.database, item_id)
    assert [entry.actor for entry in history] == ["ada"] * 3
    assert history[0].event is not None and (history[0].helpful, history[0].harmful) == (0, 1)
    pieces = history[1].changes[0].pieces
    assert "".join(piece.text for piece in pieces if piece.kind != "new").strip() == "A text with 100% and under_score."
    assert "".join(piece.text for piece in pieces if piece.kind != "gone").strip() == "A text with 100% and more."
    assert [(helpful, harmful) for _, helpful, harmful in counter_steps(history)] == [(0, 1)]


def test_a_bulk_action_is_tried_done_and_taken_back(curator: Curator) -> None:
    ids = filled(curator)
    wish = BulkWish(BulkAction.APPROVE, tuple(ids), reason="read")
    assert [step.changes for step in planned(curator, wish)] == [False, True, False]
    assert get_item(curator.database, ids[1]).status is ItemStatus.PENDING
    done = carried_out(curator, wish)
    assert get_item(curator.database, ids[1]).status is ItemStatus.ACTIVE
    taken_back(curator, done.batch)
    assert get_item(curator.database, ids[1]).status is ItemStatus.PENDING
