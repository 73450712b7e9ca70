"""Scores are absolute, explained and bounded; filters act before the cut; counters cannot win alone."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.memory.applies_when import AppliesWhen
from app.memory.lexicon import load_lexicon
from app.memory.ranking import DEFAULT_THRESHOLD, CompiledItems, ItemFacts, compile_items, rank
from app.memory.ranking.counters import smoothed_rate
from app.memory.task import read_task
from tests.unit.memory.conftest import CONV_CHAIN, RECORDS, TRANSPOSED
from tests.unit.memory.plain_scoring import PlainScorer

OPERATIONS = sorted(load_lexicon().operations)
REGIMES = sorted(load_lexicon().regimes)
FAMILIES = sorted(load_lexicon().families)
words = st.lists(st.sampled_from(OPERATIONS), max_size=5).map(tuple)
records = st.builds(
    AppliesWhen,
    generic=st.booleans(),
    families=st.lists(st.sampled_from(FAMILIES), max_size=3).map(tuple),
    anchor=words, chain=words, required=words, optional=words, excludes=words,
    regimes=st.lists(st.sampled_from(REGIMES), max_size=4).map(tuple),
    key_regimes=st.lists(st.sampled_from(REGIMES), max_size=2).map(tuple),
)  # fmt: skip
queries = st.lists(
    st.sampled_from(["conv", "linear", "gn", "bn", "relu", "maxpool", "lse", "softmax", "gru", "sum", "s2"]), max_size=6
).map(" ".join)


@settings(max_examples=120, deadline=None)
@given(st.lists(records, min_size=1, max_size=8), queries, st.integers(0, 50), st.integers(0, 50))
def test_scores_lie_between_zero_and_one_and_are_the_product_of_their_parts(
    found: list[AppliesWhen], query: str, helpful: int, harmful: int
) -> None:
    items = compile_items([ItemFacts(f"i{n}", record, helpful, harmful) for n, record in enumerate(found)])
    ranking = rank(read_task(query, None), items, threshold=0.0, top_k=20)
    assert len(ranking.hits) == len(found)
    for hit in ranking.hits:
        assert 0.0 <= hit.score <= 1.0
        assert all(0.0 <= part <= 1.0 for part in hit.parts.values())
        assert hit.score == pytest.approx(prod(hit.parts.values()), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(records, min_size=1, max_size=6), queries)
def test_pruning_by_bounds_changes_nothing(found: list[AppliesWhen], query: str) -> None:
    facts = [
        ItemFacts(f"i{n:05d}", replace(found[n % len(found)], chain=(OPERATIONS[n % len(OPERATIONS)],)))
        for n in range(1500)
    ]
    items = compile_items(facts)
    profile = read_task(query, None)
    few = rank(profile, items, top_k=7, threshold=0.0).hits
    everything = rank(profile, items, top_k=1500, threshold=0.0).hits
    assert [(hit.id, hit.score) for hit in few] == [(hit.id, hit.score) for hit in everything[:7]]


@settings(max_examples=60, deadline=None)
@given(st.lists(records, min_size=1, max_size=12), queries, st.integers(0, 3), st.randoms(use_true_random=False))
def test_the_fast_ranking_is_the_formula_item_by_item(
    found: list[AppliesWhen], query: str, evidence: int, draw: Random
) -> None:
    facts = [
        ItemFacts(f"i{n:02d}", record, draw.randint(0, 9), draw.randint(0, 9), draw.choice([1.0, 0.5]))
        for n, record in enumerate(found)
    ]
    columns = [np.array([draw.uniform(-0.2, 1.1) for _ in found]) for _ in range(2)]
    given = {name: columns[n] for n, name in enumerate(("lexical", "dense")) if evidence >> n & 1}
    profile = read_task(query, None)
    plain = PlainScorer(profile)
    expected = {
        one.id: plain.score(one, [float(column[n]) for column in given.values()]) for n, one in enumerate(facts)
    }
    ranking = rank(profile, compile_items(facts), threshold=0.0, top_k=20, **given)
    assert {hit.id: hit.score for hit in ranking.hits} == pytest.approx(expected, abs=1e-6)
    first = [hit.score for hit in ranking.hits]
    assert first == sorted(first, reverse=True)


def test_any_filter_and_any_number_of_hits_give_the_head_of_the_whole_ranking() -> None:
    draw = Random(4)
    facts = [
        ItemFacts(f"i{n:05d}", RECORDS[draw.choice(sorted(RECORDS))], draw.randint(0, 40), draw.randint(0, 40))
        for n in range(6000)
    ]
    items = compile_items(facts)
    profile = read_task("conv2d hardswish relu", None)
    for share in (1.0, 0.9, 0.001):
        allowed = np.array([draw.random() < share for _ in facts])
        whole = [hit for hit in rank(profile, items, threshold=0.0, top_k=6000).hits if allowed[hit.index]]
        for top_k in (1, 10, 700):
            part = rank(profile, items, threshold=0.0, top_k=top_k, allowed=allowed)
            assert [(hit.id, hit.score) for hit in part.hits] == [(hit.id, hit.score) for hit in whole[:top_k]]
            assert part.total_candidates == int(allowed.sum())
            high = rank(profile, items, threshold=0.4, top_k=top_k, allowed=allowed)
            assert [hit.id for hit in high.hits] == [hit.id for hit in whole[:top_k] if hit.score >= 0.4]


def test_the_item_about_the_asked_chain_comes_first(items: CompiledItems) -> None:
    assert rank(read_task("conv2d hardswish relu", None), items).hits[0].id == "conv-chain"
    assert rank(read_task("linear groupnorm hardtanh", None), items).hits[0].id == "linear-norm"
    assert rank(read_task("convT3d bn avgpool", None), items).hits[0].id == "pooled"
    assert rank(read_task("ConvTranspose3d stride 2", None), items).hits[0].id == "transposed"


def test_a_terse_note_and_the_module_of_the_same_task_agree(items: CompiledItems, module: str) -> None:
    note = [hit.id for hit in rank(read_task("convT3d bn avgpool", None), items).hits]
    code = [hit.id for hit in rank(read_task(None, module), items).hits]
    assert note[:2] == code[:2]


def test_a_filter_acts_before_the_cut(items: CompiledItems) -> None:
    profile = read_task("conv2d hardswish relu", None)
    first = rank(profile, items, top_k=1).hits[0]
    allowed = np.ones(len(items), dtype=bool)
    allowed[first.index] = False
    second = rank(profile, items, top_k=1, allowed=allowed)
    assert second.hits and second.hits[0].id != first.id
    assert second.total_candidates == len(items) - 1


def test_a_false_key_regime_costs_a_hard_item_half_but_no_veto() -> None:
    items = compile_items([ItemFacts("t", TRANSPOSED)])
    true = rank(read_task("ConvTranspose3d stride 2", None), items, threshold=0.0).hits[0]
    false = rank(read_task("ConvTranspose3d stride 1", None), items, threshold=0.0).hits[0]
    assert true.parts["keys"] == 1.0 and false.parts["keys"] == 0.5
    assert false.score > 0


def test_ubiquity_does_not_win() -> None:
    often, seldom = smoothed_rate(np.array([88.0, 3.0]), np.array([0.0, 0.0]))
    assert often - seldom < 0.2
    items = compile_items([ItemFacts("a", RECORDS["linear-norm"], helpful=500), ItemFacts("b", CONV_CHAIN, helpful=0)])
    assert rank(read_task("conv2d hardswish relu", None), items).hits[0].id == "b"


def test_votes_against_an_item_lower_it() -> None:
    items = compile_items(
        [ItemFacts("good", CONV_CHAIN, helpful=8), ItemFacts("bad", CONV_CHAIN, helpful=1, harmful=9)]
    )
    assert [hit.id for hit in rank(read_task("conv2d relu", None), items).hits] == ["good", "bad"]


def test_a_failed_verification_sinks_an_item_and_says_so() -> None:
    items = compile_items([ItemFacts("a-failed", CONV_CHAIN, verification=0.3), ItemFacts("sound", CONV_CHAIN)])
    hits = rank(read_task("conv2d relu", None), items, threshold=0.0).hits
    assert [hit.id for hit in hits] == ["sound", "a-failed"]
    assert hits[1].parts["verification"] == 0.3


def test_words_and_sentences_only_break_near_ties(items: CompiledItems) -> None:
    profile = read_task("conv2d hardswish relu", None)
    lexical = np.zeros(len(items))
    lexical[list(items.ids).index("linear-norm")] = 1.0
    assert rank(profile, items, lexical=lexical, dense=lexical).hits[0].id == "conv-chain"


def test_ties_are_ordered_by_id() -> None:
    items = compile_items([ItemFacts(name, CONV_CHAIN) for name in ("c", "a", "b")])
    assert [hit.id for hit in rank(read_task("conv2d relu", None), items).hits] == ["a", "b", "c"]


def test_a_question_about_something_else_finds_nothing(items: CompiledItems) -> None:
    for text in (
        "sourdough recipe",
        "how do I deploy django",
        "we all live in a yellow submarine",
        "capital gains tax rate",
        "",
    ):
        assert rank(read_task(text, None), items).hits == ()


def test_a_threshold_of_zero_keeps_everything(items: CompiledItems) -> None:
    ranking = rank(read_task("conv2d relu", None), items, threshold=0.0)
    assert len(ranking.hits) == len(items) and ranking.below_threshold == 0
    assert 0 < DEFAULT_THRESHOLD < 1


def test_wrong_shapes_are_refused(items: CompiledItems) -> None:
    with pytest.raises(ValueError, match="entries"):
        rank(read_task("conv", None), items, lexical=np.zeros(1))
    with pytest.raises(ValueError, match="negative"):
        rank(read_task("conv", None), items, top_k=-1)


def test_no_items_give_no_hits() -> None:
    assert rank(read_task("conv2d relu", None), compile_items([])).hits == ()
