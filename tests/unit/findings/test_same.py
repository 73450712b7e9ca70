"""Equal texts, one rule with several names, and nearly equal items."""

import numpy as np
import pytest

from app.memory.findings import find
from app.records import Item
from app.vocabulary import FindingKind, ItemStatus
from tests.unit.findings.corpora import corpus, found, ids, item, kernel

EXACT, ONE, NEAR = FindingKind.EXACT_DUPLICATE, FindingKind.ONE_RULE, FindingKind.NEAR_DUPLICATE


def test_equal_texts_are_one_finding_whatever_their_case_and_spacing() -> None:
    texts = [
        "Stage the tile in shared memory.",
        "stage the  tile in shared memory",
        "Stage the tile in\nshared memory.",
    ]
    (finding,) = found(EXACT, *(item(f"str-0000{n}", text, helpful=n) for n, text in enumerate(texts)))
    assert finding.item_ids == ("str-00000", "str-00001", "str-00002")
    assert finding.operation == {"op": "MERGE", "ids": list(finding.item_ids), "into": "str-00002"}


def test_equal_advice_for_two_families_is_left_to_a_person() -> None:
    text = "Keep the reduction in registers."
    (finding,) = found(EXACT, item("pit-00001", text, family="conv"), item("pit-00002", text, family="rnn"))
    assert finding.operation is None


def test_kernels_are_the_same_by_their_code_and_not_by_their_titles() -> None:
    code = "class ModelNew:\n    pass\n"
    same, other = kernel("ker-00002", code.replace("    ", "  ")), kernel("ker-00003", code + "x = 1")
    assert ids(EXACT, kernel("ker-00001", code), same, other) == [("ker-00001", "ker-00002")]


def test_retired_items_and_other_kinds_are_no_duplicates() -> None:
    text = "Unroll the taps of a small stencil."
    retired = item("str-00002", text, status=ItemStatus.RETIRED)
    assert ids(EXACT, item("str-00001", text), retired, item("les-00001", text)) == []


def test_texts_that_differ_in_names_are_one_rule_that_is_told_once() -> None:
    texts = [f"Never rebind the buffer {name} inside of forward" for name in ("'a.x'", "'a.y'", "'b'")]
    (finding,) = found(ONE, *(item(f"les-0000{n}", text) for n, text in enumerate(texts)))
    assert finding.item_ids == ("les-00000", "les-00001", "les-00002")
    assert finding.operation is not None
    assert finding.operation["text"] == "Never rebind the buffer 'a.x', 'a.y', 'b' inside of forward"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("A block of 128 threads is the best start", "A block of 256 threads is the best start"),
        ("Uses `a_b`", "Uses `a_c`"),
        ("Load rows of `a_b` before any store", "Load columns of `a_b` before any store"),
    ],
    ids=["figures are facts", "a label", "other words"],
)
def test_texts_that_differ_in_more_than_names_are_not_one_rule(left: str, right: str) -> None:
    assert ids(ONE, item("les-00001", left), item("les-00002", right)) == []


LONG = "Tiled {} with staged loads took 3.1415 ms against 9.2653 ms because banks stopped colliding after padding rows"
SHORT = "Padding rows ended colliding banks of {}: 3.1415 ms instead of 9.2653, so staging pays once tiles are padded"


def near(left: Item, right: Item) -> list[tuple[str, ...]]:
    # Others, so that words have rarities.
    crowd = [item(f"mem-001{n:02d}", f"Report {n} about topic {chr(97 + n) * 5} and nothing else") for n in range(20)]
    return [each for each in ids(NEAR, left, right, *crowd) if "mem-00001" in each]


def test_reports_on_one_problem_that_share_their_figures_are_near() -> None:
    left = item("mem-00001", LONG.format("transposes"), source_problem="P_one")
    assert near(left, item("mem-00002", "In P_one: " + SHORT.format("transposes"))) == [("mem-00001", "mem-00002")]


def test_the_same_words_with_other_figures_about_another_problem_are_not_near() -> None:
    left = item("mem-00001", LONG.format("transposes"), source_problem="P_one")
    right = SHORT.format("scans").replace("3.1415", "1.2345").replace("9.2653", "5.4321")
    assert near(left, item("mem-00002", right, source_problem="P_two")) == []


def test_vectors_find_what_words_do_not() -> None:
    left, right = (
        item("les-00001", "Coalesce every global load"),
        item("les-00002", "Neighbours read adjacent addresses"),
    )
    far = item("les-00003", "Name the class as asked")
    one, other = np.array([1, 0.1, 0], dtype=np.float32), np.array([0, 0, 1], dtype=np.float32)
    vectors = {"les-00001": one, "les-00002": 3 * one, "les-00003": other}
    assert ids(NEAR, left, right, far) == []
    found_with = [f.item_ids for f in find(corpus(left, right, far), vectors) if f.kind is NEAR]
    assert found_with == [("les-00001", "les-00002")]


def test_vectors_that_say_nothing_are_passed_over() -> None:
    items = [item(f"les-0000{n}", text) for n, text in enumerate(["First rule", "Second rule", "Third rule"])]
    vectors = {
        "les-00000": np.zeros(3, dtype=np.float32),
        "les-00001": np.array([np.nan, 1, 0], dtype=np.float32),
        "les-00002": np.ones((2, 3), dtype=np.float32),
        "les-09999": np.ones(3, dtype=np.float32),
    }
    assert [f for f in find(corpus(*items), vectors) if f.kind is NEAR] == []


def test_of_many_alike_each_is_reported_once() -> None:
    vectors = {f"les-0000{n}": np.array([1, n / 1000], dtype=np.float32) for n in range(5)}
    items = [item(item_id, f"{'abcde'[n] * 4} alone {'vwxyz'[n] * 4}") for n, item_id in enumerate(vectors)]
    assert len([f for f in find(corpus(*items), vectors) if f.kind is NEAR]) == 4
