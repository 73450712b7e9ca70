"""Damage, references, votes and size of single items."""

import pytest

from app.vocabulary import FindingKind, ItemStatus
from tests.unit.findings.corpora import found, ids, item

DAMAGE, DANGLING, PROSE = FindingKind.DAMAGE, FindingKind.DANGLING_REFERENCE, FindingKind.PROSE_REFERENCE
NEVER, HARMFUL, BLOATED, GRAB = (
    FindingKind.NEVER_USED,
    FindingKind.HARMFUL_LEANING,
    FindingKind.BLOATED,
    FindingKind.GRAB_BAG,
)


@pytest.mark.parametrize(
    "text",
    [
        "Before this it wasn'...'s own loop that was slow.",
        "Start with this:\n```python\nx = 1\n",
        "Use the wide loads (two per lane for aligned rows.",
        "Use the wide loads] for aligned rows.",
        'It said "no launch and stopped.',
        "Pass `stride to the kernel.",
        "Prefer one pass over the",
        "Prefer one pass, then two,",
        "Prefer one pass...",
        ", and only then store.",
        "It gave 3\ufffd the speed.",
        "A nul\x00 in the text.",
    ],
)
def test_broken_texts_are_damage(text: str) -> None:
    assert ids(DAMAGE, item("les-00001", text)) == [("les-00001",)]


@pytest.mark.parametrize(
    "text",
    [
        "Draw from [0, 1) and clip to (-1, 1] before the test.",
        "It works :) and it's the kernel's own doing :-)",
        "Three steps: 1) load, 2) add, 3) store.",
        "Either a) one pass or b) two.",
        "Python's `x[` is not closed here, and neither is `f(`.",
        "```c\nif (x) { // open\n```\nA fence may hold anything (truly).",
        'A 19" rack is no quotation, "this" is.',
        "Don't trust the users' clocks",
        "no full stop at the end",
        "Index with x[:, (i + 1) % n] and y[i][:]",
        "The result of f(a, g(b[c{d}])) stays.",
        "Turn the autotuner on",
        "",
    ],
)
def test_code_intervals_smileys_and_apostrophes_are_no_damage(text: str) -> None:
    assert found(DAMAGE, item("les-00001", text)) == []


def test_damage_that_was_noted_before_is_reported() -> None:
    (finding,) = found(DAMAGE, item("les-00001", "Sound to the eye", damage="half of it is missing"))
    assert "half of it is missing" in finding.evidence


def test_references_to_missing_and_retired_items_dangle() -> None:
    source = item("str-00001", "See str-00002, les-00009 and ker-00003.")
    retired = item("str-00002", "Old advice", status=ItemStatus.RETIRED)
    (finding,) = found(DANGLING, source, retired)
    assert finding.item_ids == ("str-00001",)
    assert "les-00009 and ker-00003, which no item has and str-00002, retired" in finding.evidence


def test_references_to_items_that_exist_do_not_dangle() -> None:
    assert (
        found(DANGLING, item("str-00001", "See str-00002."), item("str-00002", "See str-00001, and str-00002.")) == []
    )


TARGET = item("str-00002", "Bank conflicts pitfall: pad the rows of a tile by one element.")
OTHER = item("str-00003", "Launch order: warm up before any timing of the kernel.")


def test_a_reference_in_words_finds_the_item_that_it_means() -> None:
    source = item("str-00001", "Pad the tile (see the bank conflicts bullet) before you tune.")
    (finding,) = found(PROSE, source, TARGET, OTHER)
    assert finding.item_ids == ("str-00001", "str-00002")
    assert finding.operation == {
        "op": "UPDATE",
        "id": "str-00001",
        "text": "Pad the tile (see the bank conflicts bullet str-00002) before you tune.",
    }


def test_a_reference_that_was_given_its_id_is_not_reported_again() -> None:
    source = item("str-00001", "Pad the tile (see the bank conflicts bullet) before you tune.")
    (finding,) = found(PROSE, source, TARGET, OTHER)
    assert finding.operation is not None
    assert found(PROSE, item("str-00001", finding.operation["text"]), TARGET, OTHER) == []


def test_ids_of_other_things_do_not_dangle() -> None:
    assert found(DANGLING, item("str-00001", "It was shown in ctx-00017 and abc-00001.")) == []


def test_a_reference_in_words_to_nothing_is_reported_without_a_guess() -> None:
    (finding,) = found(PROSE, item("str-00001", "Pad it; see the quantum annealing bullet."), TARGET, OTHER)
    assert finding.item_ids == ("str-00001",)
    assert finding.operation is None


@pytest.mark.parametrize(
    "text",
    [
        "Keep the tile in the shared memory and read it from the global memory once.",
        "This bullet is about the same recipe as before.",
        "The bullet hit the wall.",
        "Follow the str-00002 bullet.",
    ],
)
def test_ordinary_words_are_no_references(text: str) -> None:
    assert found(PROSE, item("str-00001", text), TARGET, OTHER) == []


def voted(number: int, helpful: int, harmful: int) -> object:
    return item(f"str-{number:05d}", f"Advice of {chr(97 + number) * 5}", helpful=helpful, harmful=harmful)


def test_items_that_nobody_voted_on_are_one_finding() -> None:
    items = [voted(1, 3, 0), voted(2, 0, 0), voted(3, 0, 0), item("les-00001", "A lesson, never counted")]
    assert ids(NEVER, *items) == [("str-00002", "str-00003")]


def test_a_corpus_without_votes_has_no_unused_items() -> None:
    assert ids(NEVER, voted(1, 0, 0), voted(2, 0, 0)) == []


def test_items_are_harmful_by_the_lower_bound_and_not_by_the_share() -> None:
    praised = voted(1, 200, 2)
    assert ids(HARMFUL, praised, voted(2, 12, 8), voted(3, 0, 1), voted(4, 30, 2)) == [("str-00002",)]
    assert ids(HARMFUL, voted(1, 0, 20)) == [("str-00001",)]
    assert ids(HARMFUL, voted(1, 0, 0)) == []


def test_a_text_far_longer_than_its_kind_is_bloated() -> None:
    short = [item(f"str-0000{n}", f"Short advice {n}") for n in range(3)]
    assert ids(BLOATED, *short, item("str-00009", "word " * 1000)) == [("str-00009",)]
    assert ids(BLOATED, *(item(f"mem-0000{n}", f"{n} " + "word " * 1000) for n in range(3))) == []


def test_an_item_about_four_families_is_a_grab_bag() -> None:
    text = "P_one gained 1.2, P_two nothing, the norm family lost, and P_four stayed."
    assert ids(GRAB, item("mem-00001", text)) == [("mem-00001",)]
    assert ids(GRAB, item("mem-00001", text.replace("P_four", "P_one"))) == []
