"""Rows rebuilt from contexts, and contexts rendered from rows: all policies, readers and problems, to the byte."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

import pytest

from app.memory.merging import Change, Known, Merger, unedited
from app.memory.policies import POLICIES, Layout
from app.memory.recovery import recover
from app.memory.recovery.ordering import merged_order, ordered_by
from app.records import Corpus, Item, Problem, Reader
from app.services.bundled import bundled_problems
from tests.unit.rendering import rendered

Document = dict[str, dict[str, dict[str, str]]]
PROBLEMS: dict[str, Problem] = {problem.id: problem for problem in bundled_problems()}


def rebuilt(documents: list[Document]) -> Corpus:
    """The corpus that an import of the documents leaves, without any database."""
    items: dict[str, Item] = {}
    hashes: dict[str, str | None] = {}
    numbers = count(1)
    readers: dict[str, Reader] = {}
    baselines, rankings, wording = {}, {}, {}
    for number, document in enumerate(documents):
        draft = recover(document, PROBLEMS, f"document {number}", unedited(list(items.values()), hashes))
        assert draft.faults == []
        known = Known(items, hashes, {}, PROBLEMS)
        plan = Merger(draft, known, lambda kind: f"{kind.id_prefix}-{next(numbers):05d}", datetime.now(UTC)).plan()
        assert plan.faults == []
        items = {**items, **{change.item.id: _voted(change) for change in plan.changes}}
        hashes = {**hashes, **{change.item.id: change.source_hash for change in plan.changes}}
        for reader in draft.readers:
            old = readers.get(reader.name)
            readers[reader.name] = reader if reader.display_name or old is None else old
        baselines.update({(b.reader, b.problem, b.family, b.level): b for b in draft.baselines})
        rankings.update({(ranking.source, ranking.problem): ranking.item_ids for ranking in draft.rankings})
        wording.update(draft.wording)
    return Corpus(1, items, PROBLEMS, readers, list(baselines.values()), rankings, wording)


def _voted(change: Change) -> Item:
    helpful, harmful = change.votes
    return replace(change.item, helpful=change.item.helpful + helpful, harmful=change.item.harmful + harmful)


def leaves(documents: list[Document]) -> Iterator[tuple[str, str, str, str]]:
    for document in documents:
        for policy, readers in document.items():
            for reader, contexts in readers.items():
                for problem, text in contexts.items():
                    yield policy, reader, problem, text


def differing(corpus: Corpus, documents: list[Document]) -> Counter[str]:
    """Policy -> number of contexts that do not come out to the byte."""
    wrong: Counter[str] = Counter()
    for policy, reader, problem, text in leaves(documents):
        wrong[policy] += rendered(corpus, policy, reader, problem) != text
    return +wrong


def test_all_1660_contexts_come_out_byte_for_byte(seed_documents: list[Document]) -> None:
    assert sum(1 for _ in leaves(seed_documents)) == 1660
    assert differing(rebuilt(seed_documents), seed_documents) == Counter()


def test_the_order_of_the_documents_does_not_matter(seed_documents: list[Document]) -> None:
    assert differing(rebuilt(seed_documents[::-1]), seed_documents) == Counter()


def renumbered(text: str) -> str:
    return re.sub(r"\b(str|mem)-(\d{5})\b", lambda match: f"{match[1]}-{90000 - int(match[2]):05d}", text)


def reworded_recipe(text: str) -> str:
    return text.replace(
        "Keep ConvTranspose in cuDNN via torch and fuse only", "Leave ConvTranspose to cuDNN and join (~1.500x) just"
    )


def changed_kernel(text: str) -> str:
    return text.replace("def fused_kernel(x_ptr, out_ptr, N, C, D, H, W", "def one_kernel(px, po, N, C, D, H, W")


def renamed_reader(text: str) -> str:
    return text.replace('"claude-opus-4-8"', '"reader-of-tests"')


def renamed_writer(text: str) -> str:
    return text.replace("Claude Opus 4.8", "Someone Else")


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    "change", [renumbered, reworded_recipe, changed_kernel, renamed_reader, renamed_writer], ids=lambda f: f.__name__
)
def test_nothing_is_hard_wired(seed_documents: list[Document], change: Callable[[str], str], order: int) -> None:
    whole = json.dumps(seed_documents, ensure_ascii=False)
    changed = change(whole)
    assert changed != whole
    documents: list[Document] = json.loads(changed)
    if change is reworded_recipe:
        # A figure in a text must be gone where figures are not shown, consistently with the rest.
        for contexts in documents[1]["no_numbers"].values():
            for problem, text in contexts.items():
                contexts[problem] = text.replace(" (~1.500x)", "")
    assert differing(rebuilt(documents[::order]), documents) == Counter()


def test_every_policy_of_the_documents_is_a_row_of_the_table(seed_documents: list[Document]) -> None:
    assert {policy for document in seed_documents for policy in document} <= POLICIES.keys()


def test_contexts_of_unknown_policies_and_problems_are_reported(seed_documents: list[Document]) -> None:
    document = {"best": {"r": {"L2_020": "x"}}, "living": {"r": {"L9_999": "x", "L2_020": "## Head\n\n### Odd\n- x"}}}
    faults = [fault.reason for fault in recover(document, PROBLEMS, "d").faults]
    assert len(faults) == 3
    assert "policy 'best'" in faults[0]
    assert "problem 'L9_999'" in faults[1]
    assert "Odd" in faults[2]


def test_orders_are_merged_and_contradictions_do_not_hang() -> None:
    assert merged_order([["a", "c"], ["b", "c"], ["a", "b"]]) == ["a", "b", "c"]
    assert merged_order([["c"], ["a"]], known=["a", "b", "c"]) == ["a", "b", "c"]
    assert ordered_by(["a", "b"], [("a", "b"), ("b", "a")]) == ["a", "b"]


def test_layouts_of_the_table_are_all_rendered() -> None:
    assert {policy.layout for policy in POLICIES.values()} == set(Layout)
