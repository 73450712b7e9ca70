"""Advice against advice, and claims against measurements."""

from decimal import Decimal

import pytest

from app.memory.findings import find
from app.records import Item
from app.vocabulary import FindingKind, ItemStatus
from tests.unit.findings.corpora import corpus, found, ids, item, kernel, measured

AGAINST, STALE = FindingKind.CONTRADICTION, FindingKind.STALE_CLAIM

FORBIDS = "Don't stage halo rows in shared memory before the stencil loop; the barrier costs more than it saves."
DOES = "Stage the halo rows in shared memory, one barrier per plane, and run the stencil loop from there."


def pair(left: str, right: str = DOES, **fields: object) -> list[tuple[str, ...]]:
    recipe = item("rec-00001", right, family="conv")
    return ids(AGAINST, item("pit-00001", left, **{"family": "conv", **fields}), recipe)


def test_a_pitfall_that_forbids_what_a_recipe_of_its_family_does_is_a_contradiction() -> None:
    (finding,) = found(AGAINST, item("pit-00001", FORBIDS, family="conv"), item("rec-00001", DOES, family="conv"))
    assert finding.item_ids == ("pit-00001", "rec-00001")
    assert "stage halo rows in shared memory before the stencil loop" in finding.evidence
    assert finding.operation is None


def test_a_flagged_prohibition_without_an_imperative_forbids_its_first_subject() -> None:
    text = "Halo rows staged in shared memory for the stencil loop rarely pay. Nobody has seen a gain."
    assert pair(text, prohibition=True) == [("pit-00001", "rec-00001")]
    assert pair(text) == []


@pytest.mark.parametrize(
    "text",
    [
        FORBIDS.replace("Don't stage", "Stage"),
        "Never stage halo rows in shared memory without a stencil loop after it.",
        "Don't expect halo rows in shared memory to speed the stencil loop up.",
        "Don't stage anything.",
        "Don't stage weights in constant banks before the first launch; caches hold them.",
    ],
    ids=["it advises the same", "it names a condition", "an expectation", "too little is said", "something else"],
)
def test_what_is_not_forbidden_contradicts_nothing(text: str) -> None:
    assert pair(text) == []


def test_an_approach_that_shares_less_than_half_of_the_words_is_another_one() -> None:
    forbids = (
        "Avoid permuted copies of weights and biases that stage halo rows in shared memory ahead of a stencil loop."
    )
    assert pair(forbids, "Stage the rows in shared memory and run the loop from there.") == []


def test_other_families_and_items_that_forbid_the_same_are_no_contradiction() -> None:
    assert pair(FORBIDS, family="rnn") == []
    assert pair(FORBIDS, "Never stage halo rows in shared memory before the stencil loop: registers suffice.") == []


def test_opposed_lessons_without_a_family_are_found() -> None:
    assert ids(AGAINST, item("str-00001", FORBIDS), item("str-00002", DOES)) == [("str-00001", "str-00002")]


def test_a_flagged_prohibition_is_held_against_kernels_that_no_recipe_tells() -> None:
    code = "def stencil(halo_rows, shared_memory):\n    # stage before the loop\n    return loop(halo_rows)\n"
    forbids = item("pit-00001", FORBIDS, family="conv", prohibition=True)
    does = kernel("ker-00001", code, family="conv", source_problem="P_one")
    assert ids(AGAINST, forbids, does) == [("pit-00001", "ker-00001")]
    recipe = item("rec-00001", "Something else entirely", family="conv", source_problem="P_one")
    assert ids(AGAINST, forbids, does, recipe) == []


def claimed(item_id: str, claim: str | None, **fields: object) -> Item:
    speedup = Decimal(claim) if claim else None
    make = kernel if item_id.startswith("ker") else item
    return make(item_id, f"text of {item_id}", claimed_speedup=speedup, source_problem="P_one", **fields)


@pytest.mark.parametrize(
    ("claim", "speedup", "stale"),
    [
        ("1.50", "1.45", False),
        ("1.50", "1.20", True),
        ("1.50", "1.80", True),
        ("1.05", "0.99", True),
        ("1.00", "0.99", False),
        ("1.50", None, True),
        (None, "0.50", False),
    ],
)
def test_a_claim_is_stale_where_a_run_contradicts_it(claim: str | None, speedup: str | None, stale: bool) -> None:
    runs = {"some GPU": {"ker-00001": measured(speedup, "correct" if speedup else "wrong_result")}}
    findings = find(corpus(claimed("ker-00001", claim), measurements=runs))
    assert [f.item_ids for f in findings if f.kind is STALE] == ([("ker-00001",)] if stale else [])


def test_recipe_and_kernel_of_one_problem_are_one_stale_claim() -> None:
    runs = {"some GPU": {"ker-00001": measured("0.77")}}
    items = claimed("ker-00001", "2.00"), claimed("rec-00001", "2.00")
    (finding,) = [f for f in find(corpus(*items, measurements=runs)) if f.kind is STALE]
    assert finding.item_ids == ("rec-00001", "ker-00001")
    assert "measured 0.77x on some GPU, claimed 2.00x" in finding.evidence


def test_a_single_stale_claim_proposes_the_measured_figure() -> None:
    runs = {"some GPU": {"ker-00001": measured("1.2")}}
    (finding,) = [f for f in find(corpus(claimed("ker-00001", "2.00"), measurements=runs)) if f.kind is STALE]
    assert finding.operation == {"op": "UPDATE", "id": "ker-00001", "claimed_speedup": "1.20"}


def test_retired_items_claim_nothing() -> None:
    runs = {"some GPU": {"ker-00001": measured("0.77")}}
    assert find(corpus(claimed("ker-00001", "2.00", status=ItemStatus.RETIRED), measurements=runs)) == []
