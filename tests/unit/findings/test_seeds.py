"""The known cases of the seed documents, found by rules that name none of them."""

import json
import time
from dataclasses import replace
from typing import Any

import pytest

from app.memory.findings import Finding, find
from app.records import Corpus
from app.vocabulary import FindingKind, ItemKind
from tests.unit.test_recovery import rebuilt


@pytest.fixture(scope="module")
def corpus(seed_documents: list[dict[str, Any]]) -> Corpus:
    return rebuilt(seed_documents)


@pytest.fixture(scope="module")
def findings(corpus: Corpus) -> list[Finding]:
    return find(corpus)


def of(findings: list[Finding], kind: FindingKind) -> list[tuple[str, ...]]:
    return [finding.item_ids for finding in findings if finding.kind is kind]


def test_the_three_damaged_pitfalls_and_nothing_else_are_damage(corpus: Corpus, findings: list[Finding]) -> None:
    damaged = of(findings, FindingKind.DAMAGE)
    assert len(damaged) == 3
    assert all(corpus.items[item_id].kind is ItemKind.PITFALL for (item_id,) in damaged)


def test_the_four_memory_pairs_and_the_two_recipes_are_near_duplicates(corpus: Corpus, findings: list[Finding]) -> None:
    near = of(findings, FindingKind.NEAR_DUPLICATE)
    memories = {pair for pair in near if corpus.items[pair[0]].kind is ItemKind.MEMORY}
    assert memories == {
        ("mem-00086", "mem-00087"),
        ("mem-00105", "mem-00106"),
        ("mem-00060", "mem-00121"),
        ("mem-00129", "mem-00130"),
    }
    recipes = [{corpus.items[each].source_problem for each in pair} for pair in near if pair not in memories]
    assert {"L1_083"} in recipes


def test_five_lessons_are_one_rule(corpus: Corpus, findings: list[Finding]) -> None:
    (rule,) = of(findings, FindingKind.ONE_RULE)
    assert len(rule) == 5
    assert {corpus.items[item_id].kind for item_id in rule} == {ItemKind.LESSON}


@pytest.mark.parametrize(("family", "problem"), [("conv_transpose", "L1_078"), ("network", "L3_027")])
def test_a_prohibition_that_forbids_the_top_recipe_of_its_family_is_found(
    corpus: Corpus, findings: list[Finding], family: str, problem: str
) -> None:
    forbidding = [
        ids
        for ids in of(findings, FindingKind.CONTRADICTION)
        if corpus.items[ids[0]].prohibition and corpus.items[ids[0]].family == family
    ]
    assert any(corpus.items[each].source_problem == problem for ids in forbidding for each in ids[1:])


def test_the_bullets_without_votes_are_one_finding_of_28(findings: list[Finding]) -> None:
    assert [len(ids) for ids in of(findings, FindingKind.NEVER_USED)] == [28]


def test_references_in_words_are_found_and_none_dangles(findings: list[Finding]) -> None:
    assert len(of(findings, FindingKind.PROSE_REFERENCE)) >= 7
    assert of(findings, FindingKind.DANGLING_REFERENCE) == []
    meant = [ids for ids in of(findings, FindingKind.PROSE_REFERENCE) if "str-00029" in ids[1:]]
    assert len(meant) >= 4


def test_the_bullet_with_eight_harmful_votes_leans_harmful(findings: list[Finding]) -> None:
    assert ("str-00004",) in of(findings, FindingKind.HARMFUL_LEANING)


def test_findings_are_quick_and_the_same_whatever_the_order_of_the_items(
    corpus: Corpus, findings: list[Finding]
) -> None:
    backwards = replace(corpus, items=dict(reversed(corpus.items.items())))
    started = time.process_time()
    assert find(backwards) == findings
    assert time.process_time() - started < 2.0


def test_keys_tell_all_findings_apart_and_operations_are_json(findings: list[Finding]) -> None:
    assert len({finding.key for finding in findings}) == len(findings)
    assert json.loads(json.dumps([finding.operation for finding in findings]))
