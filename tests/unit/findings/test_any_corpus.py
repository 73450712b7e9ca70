"""No corpus makes the rules fail."""

import json
import time
from dataclasses import replace
from decimal import Decimal

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.memory.findings import Finding, find
from app.records import Item
from app.vocabulary import FindingKind, ItemKind, ItemStatus
from tests.unit.findings.corpora import PROBLEMS, corpus, item, kernel, measured

PIECES = [
    *("Don't", "never", "avoid", "instead of", "see the", "bullet", "str-00001", "les-00002", "P_one", "P_two"),
    *("```", "`", "(", ")", "[", "]", '"', "'...'", "x'...'y", "\ud800", "\x00", "\ufffd", "1.2345", "9.87", "..."),
    *("stage", "rows", "tile", "loop", "shared", "memory", "\n", "\u202e", "\U0001f600", "::", "the", ",", "İ", "ß"),
]
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join),
    st.text(st.characters(codec=None), max_size=80),
)


@st.composite
def items(draw: st.DrawFn) -> list[Item]:
    made = []
    for number in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(list(ItemKind)))
        text = draw(TEXTS)
        item_id = f"{kind.id_prefix}-{number:05d}"
        fresh = kernel(item_id, text) if kind is ItemKind.KERNEL else item(item_id, text)
        made.append(
            replace(
                fresh,
                text=text,
                status=draw(st.sampled_from(list(ItemStatus))),
                helpful=draw(st.integers(-2, 30)),
                harmful=draw(st.integers(-2, 30)),
                prohibition=draw(st.sampled_from([None, True, False])),
                family=draw(st.sampled_from([None, "", "conv", "rnn"])),
                source_problem=draw(st.sampled_from([None, *PROBLEMS, "unknown"])),
                claimed_speedup=draw(st.sampled_from([None, Decimal("0"), Decimal("1.00"), Decimal("2.5")])),
                applies_when=draw(st.sampled_from([None, {}, {"families": ["conv"]}, {"families": None}])),
            )
        )
    return made


@given(items(), st.sampled_from([None, "0.5", "1.2"]))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_odd_texts_never_make_find_fail(made: list[Item], speedup: str | None) -> None:
    runs = {"some GPU": {each.id: measured(speedup) for each in made[:3]}}
    vectors = {each.id: np.full(3, number % 2, dtype=np.float32) for number, each in enumerate(made)}
    found = find(corpus(*made, measurements=runs), vectors)
    known = {each.id for each in made}
    retired = {each.id for each in made if each.status is ItemStatus.RETIRED}
    for finding in found:
        assert finding.evidence
        assert finding.item_ids
        assert set(finding.item_ids) <= known - retired
        json.dumps(finding.operation)
        operation = finding.operation
        assert operation is None or set(operation.get("ids", [operation.get("id")])) <= set(finding.item_ids)
    assert len({finding.key for finding in found}) == len(found)
    assert find(corpus(*reversed(made), measurements=runs), vectors) == found


def test_a_key_depends_on_kind_and_items_alone() -> None:
    one = Finding(FindingKind.BLOATED, ("str-00001",), "long")
    assert one.key == replace(one, evidence="very long", operation={"op": "DELETE", "id": "str-00001"}).key
    others = [replace(one, kind=FindingKind.GRAB_BAG), replace(one, item_ids=("str-00001", "str-00002"))]
    assert one.key not in {other.key for other in others}


def test_the_work_grows_with_the_items_and_not_with_their_pairs() -> None:
    def seconds(count: int) -> float:
        made = [
            item(
                f"mem-{n:05d}",
                f"Never stage {n % 97} rows w{n} v{n % 11} u{n % 13} of the tile in shared memory {n}.25",
            )
            for n in range(count)
        ]
        started = time.process_time()
        find(corpus(*made))
        return time.process_time() - started

    assert seconds(4000) < 12 * max(seconds(1000), 0.05)
