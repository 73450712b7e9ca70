"""The benchmark page: tables, targets and plots say what the results say."""

import xml.etree.ElementTree as ElementTree
from typing import Any

from eval import plots
from eval.render import SECTIONS, drawings, targets
from eval.tables import table

CELL = {"p50_ms": 30.0, "p95_ms": 40.0, "p99_ms": 50.0, "queries_per_second": 120.0, "queries": 10, "faults": 0}


def latency(prose_ms: float, rate: float) -> dict[str, Any]:
    searches = [
        {**CELL, "task": "prose", "clients": 1, "workers": 1, "p50_ms": prose_ms},
        {**CELL, "task": "prose", "clients": 8, "workers": 2, "queries_per_second": rate},
        {**CELL, "task": "id", "clients": 1, "workers": 1, "p50_ms": 9.0},
    ]
    size = {
        "items": 10_000,
        "start_seconds": 12.5,
        "peak_memory_mb": 900,
        "write_to_visible": {"write_ms": 12.0, "first_search_ms": 30.0},
        "searches": searches,
        "encode": {"prose": {"p50_ms": 28.0, "p95_ms": 33.0}},
    }
    statistics = {"words_mean": 222.0}
    return {
        "word_statistics": {"real": statistics, "synthetic": statistics},
        "sizes": [size],
    }


def test_a_table_shows_three_digits_and_dashes_for_what_was_not_measured() -> None:
    assert table(("a", "b"), [(1.23456, None), (1234.5, 10_000)])[2:] == ["| 1.23 | - |", "| 1,234 | 10,000 |"]


def test_targets_are_judged_against_the_encode_time_of_the_same_run() -> None:
    met = {row[0]: row[4] for row in targets(latency(prose_ms=32.9, rate=101.0))}
    assert met == {
        "prose: p50 at most encode + 5 ms": "yes",
        "id: p50 under 10 ms": "yes",
        "prose: queries/s with 8 clients, 2 processes": "yes",
    }
    missed = {row[0]: row[4] for row in targets(latency(prose_ms=33.1, rate=99.0))}
    assert missed["prose: p50 at most encode + 5 ms"] == "no"
    assert missed["prose: queries/s with 8 clients, 2 processes"] == "no"


def test_every_figure_of_a_cell_stands_in_the_page() -> None:
    page = "\n".join(SECTIONS["latency"](latency(prose_ms=31.5, rate=120.0)))
    assert "| 10,000 | prose | 1 | 1 | 31.5 | 40 | 50 | 120 | 3.5 |" in page


def test_skipped_peers_are_named_with_their_reason() -> None:
    result = {"settings": {"a": "defaults"}, "skipped": {"b": "not installed"}, "quality": [], "speed": []}
    assert "Skipped: b (not installed)." in "\n".join(SECTIONS["peers"](result))


def test_plots_are_well_formed_and_label_their_axes_with_units() -> None:
    drawn = drawings({"latency": latency(prose_ms=31.5, rate=120.0)})["latency"]
    texts = [element.text for element in ElementTree.fromstring(drawn).iter() if element.text]
    assert "p50, ms" in texts
    assert "items" in texts


def test_bars_escape_names_and_nothing_positive_draws_nothing() -> None:
    drawn = plots.bars("peers", "queries per second", {"a < b": 10.0, "c": 100.0}, logarithmic=True)
    assert "a &lt; b" in drawn
    ElementTree.fromstring(drawn)
    assert plots.bars("peers", "n", {"a": 0.0}) == ""
    assert plots.lines("l", "x", "y", {"a": [(0.0, 1.0)]}) == ""


def test_the_service_sections_show_what_was_measured() -> None:
    cell = {**CELL, "task": "code", "clients": 8}
    told = {"write_ms": 12.0, "first_search_ms": 30.0}
    engine = {"engine": "A", "start_seconds": 3.5, "resident_memory_mb": 900.0, "write_to_visible": told}
    size = {"items": 10_000, "engines": [{**engine, "searches": [cell]}]}
    agreement = {"development": {"questions": 80, "equal": 79, "overlap": 0.9975}}
    page = "\n".join(SECTIONS["backends"]({"sizes": [{**size, "agreement": agreement}]}))
    assert "| 10,000 | A | code | 8 | 30 | 40 | 50 | 120 |" in page
    assert "| 10,000 | development | 80 | 79 | 0.9975 |" in page
    soak = {"minutes": 30.0, "clients": 8, "requests": {"search": 9}, "faults": {"search": 0}, "votes_counted": 3}
    soak |= {"counters_exact": False, "memory_mb": [1.0] * 8, "memory_growth": 1.0}
    assert "DIFFER" in "\n".join(SECTIONS["soak"](soak))
