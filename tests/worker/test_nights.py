"""Nights: two schedulers do nothing twice, controls quarantine, doubts are confirmed, the summary tells it."""

import json
import threading
from collections import Counter
from decimal import Decimal

import pytest

from app.records import Night, Run
from app.retrieval.hashing import HashingEmbedder
from app.services import curation, nightly, reporting, work_orders
from app.services.assembly import assembled
from app.services.curation import Curator
from app.services.findings import lint
from app.services.queue import Queue
from app.settings import Settings
from app.store import corpus, runs
from app.store import work_orders as guard
from app.store.database import Database
from app.store.work_orders import Outcome
from app.vocabulary import FindingKind, NightState
from tests.conftest import ROOT
from tests.worker.fleet import H200, all_runs, kernel_ids

DATE, NEXT = "2026-11-29", "2026-11-30"


@pytest.fixture
def database(starter_settings: Settings) -> Database:
    starter_settings.problems = str(ROOT / "bullets" / "problems")
    return Database(starter_settings)


def outcome(verdict: str, speedup: float | None) -> Outcome:
    figures = None
    if speedup is not None:
        figures = {"speedup": speedup, "speedup_lo95": speedup * 0.99, "speedup_hi95": speedup * 1.01}
    kept = {"figures": figures, "flags": [], "detail": "", "evidence": {}, "phases": {"timing": 6.0}, "seconds": 9.0}
    return Outcome(verdict, None if speedup is None else Decimal(f"{speedup:.4f}"), kept, {"evaluator": "1-a"})


def control(run: Run) -> Outcome:
    if run.control == "reference":
        return outcome("verified", 1.004)
    return outcome("incorrect_value" if run.control == "zeros" else "decoy", None)


def work(database: Database, verdicts: dict[str, list[Outcome]] | None = None) -> None:
    """Judges every waiting run: controls as they must be, kernels as told (the last entry repeats), others at 1.5x."""
    with database.read() as session:
        waiting = [run_id for run_id, _ in guard.queued(session)]
    for run_id in waiting:
        with database.write() as session:
            run = guard.claim(session, run_id, "w")
        assert run is not None
        told = (verdicts or {}).get(run.item_id or run.control or "")
        found = told.pop(0) if told and len(told) > 1 else told[0] if told else None
        found = found or (control(run) if run.item_id is None else outcome("verified", 1.5))
        assert work_orders.keep_verdict(database, run, found)


def night(database: Database, date: str, only: list[str], verdicts: dict[str, list[Outcome]] | None = None) -> Night:
    queue = Queue(database.settings)
    assert nightly.begin(database, queue, date, {H200: "1-a"}, "tester", only)
    for _ in range(6):
        work(database, verdicts)
        now = nightly.step(database, queue, date)
        if now.state == NightState.CLOSED:
            return now
    raise AssertionError(f"the night stands at {now.state}")


def ids(now: Night, name: str) -> list[str]:
    assert now.summary is not None
    return [entry["item_id"] for entry in now.summary[name]]


def test_many_schedulers_open_and_move_one_night_once(database: Database) -> None:
    only = kernel_ids(database, 3)
    opened: list[bool] = []

    def schedule() -> None:
        queue = Queue(database.settings)
        opened.append(nightly.begin(database, queue, DATE, {H200: "1-a"}, "tester", only))
        nightly.step(database, queue, DATE)

    for _ in range(4):
        threads = [threading.Thread(target=schedule) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        work(database)
    assert Counter(opened) == {True: 1, False: 15}
    found = Counter((run.item_id, run.control, run.problem) for run in all_runs(database))
    assert set(found.values()) == {1}
    assert len(found) == 5 + 3 * 2 + 3
    assert nightly.step(database, Queue(database.settings), DATE).state == NightState.CLOSED
    database.dispose()


def test_a_regression_is_confirmed_demoted_told_and_recovers(database: Database) -> None:
    broken, slower, shaky, steady = kernel_ids(database, 4)
    only = [broken, slower, shaky, steady]
    first = night(database, DATE, only)
    assert sorted(ids(first, "new")) == sorted(only)
    assert ids(first, "regressed") == []
    second = night(
        database,
        NEXT,
        only,
        {
            broken: [outcome("incorrect_value", None)],
            slower: [outcome("verified", 1.1)],
            shaky: [outcome("runtime_error", None), outcome("verified", 1.5)],
        },
    )
    assert sorted(ids(second, "regressed")) == sorted([broken, slower])
    assert ids(second, "doubtful") == []
    assert sorted(ids(second, "verified")) == sorted([slower, shaky, steady])
    assert ids(second, "failed") == [broken]
    confirmed = [run for run in all_runs(database) if run.reason == "confirmation"]
    assert sorted(run.item_id or "" for run in confirmed) == sorted([broken, slower, shaky])
    with database.read() as session:
        items = {item.id: item for item in corpus.items_since(session, -1)}
        measured = corpus.facts(session).measurements[H200]
    assert [item_id for item_id in only if items[item_id].demotions] == [broken]
    assert measured[slower].speedup == Decimal("1.10"), "claims follow the latest run"
    services = assembled(database.settings)
    leaning = [f for f in lint(database, services.catalog) if f.kind == FindingKind.DEMOTED_KERNEL]
    assert all(broken in finding.item_ids for finding in leaning)
    services.close()
    third = night(database, "2026-12-01", only)
    assert ids(third, "recovered") == [broken]
    database.dispose()


def test_a_problem_that_fails_a_control_keeps_its_kernels_as_they_are(database: Database) -> None:
    kernel, other = kernel_ids(database, 2)
    night(database, DATE, [kernel, other])
    with database.read() as session:
        problem = next(i.source_problem for i in corpus.items_since(session, -1) if i.id == kernel)
    queue = Queue(database.settings)
    assert nightly.begin(database, queue, NEXT, {H200: "1-a"}, "tester", [kernel, other])
    with database.read() as session:
        zeros = [r for r in runs.of_night(session, NEXT) if r.control == "zeros" and r.problem == problem]
    with database.write() as session:
        claimed = guard.claim(session, zeros[0].id, "w")
    assert claimed is not None
    work_orders.keep_verdict(database, claimed, outcome("verified", 1.0))
    for _ in range(5):
        work(database, {kernel: [outcome("incorrect_value", None)]})
        closed = nightly.step(database, queue, NEXT)
    assert closed.summary is not None
    assert [(q["problem"], q["complaints"]) for q in closed.summary["quarantined"]] == [(problem, ["zeros pass"])]
    assert {run.item_id for run in all_runs(database) if run.night == NEXT and run.item_id} == {other}
    with database.read() as session:
        assert corpus.facts(session).measurements[H200][kernel].verdict == "verified"
    database.dispose()


def test_an_evaluator_that_lets_a_known_bad_candidate_pass_judges_nothing(database: Database) -> None:
    closed = night(database, DATE, kernel_ids(database, 2), {"known-bad for_show": [outcome("verified", 1.0)]})
    assert closed.summary is not None
    assert [q["problem"] for q in closed.summary["quarantined"]] == ["*"]
    assert closed.summary["counts"]["verified"] == 0
    database.dispose()


def test_a_night_that_is_over_its_time_is_closed_as_it_stands(database: Database) -> None:
    queue = Queue(database.settings)
    nightly.begin(database, queue, DATE, {H200: "1-a"}, "tester", kernel_ids(database, 1))
    database.settings.night_hours = 1e-9
    for _ in range(4):
        closed = nightly.step(database, queue, DATE)
    assert closed.state == NightState.CLOSED
    assert closed.summary is not None
    assert {fault["verdict"] for fault in closed.summary["infrastructure"]} == {"cancelled"}
    database.dispose()


def test_the_report_tells_it_in_figures_words_and_plots(database: Database) -> None:
    only = kernel_ids(database, 3)
    curator = Curator(database, HashingEmbedder(), "tester")
    for item_id in only:
        curation.edit(curator, item_id, 1, {"claimed_speedup": Decimal("2.25")})
    night(database, DATE, only)
    night(database, NEXT, only, {only[0]: [outcome("incorrect_value", None)]})
    page, data = reporting.write(database, NEXT)
    report, html = json.loads(data.read_text()), page.read_text()
    assert report["summary"]["counts"]["regressed"] == 1
    assert report["summary"]["device_minutes"] == {H200: pytest.approx(1.5)}
    assert {len(entry["points"]) for entry in report["over_time"]} == {1, 2}
    assert "Claimed and measured speedup on NVIDIA H200" in html
    assert "measured speedup (ratio)" in html
    assert "date of the run (UTC)" in html
    assert html.count("<svg") == 4
    assert "<script" not in html
    database.dispose()


def test_hostile_text_in_a_report_stays_text() -> None:
    from app.memory.night_page import render
    from app.memory.plots import Dot, scatter

    evil = "<script>alert(1)</script>"
    assert "<script" not in scatter([Dot(1, 1, evil)], evil, evil, evil)
    plan = {"evaluators": {evil: evil}, "not_judged": [{"item_id": evil, "why": evil}]}
    head = {"date": DATE, "state": "controls", "opened_at": "x", "opened_by": evil, "closed_at": None, "summary": None}
    assert "<script" not in render({**head, "plan": plan})


def test_controls_and_nights_are_read_over_http(database: Database) -> None:
    from fastapi.testclient import TestClient

    from app.main import create_app

    night(database, DATE, kernel_ids(database, 1))
    with TestClient(create_app(database.settings)) as client:
        listed = client.get("/v1/nights").json()
        assert [entry["date"] for entry in listed["items"]] == [DATE]
        assert client.get(f"/v1/nights/{DATE}").json()["summary"]["counts"]["controls"] == 7
        assert client.get("/v1/runs", params={"night": DATE, "controls": "true"}).json()["total"] == 7
        assert "Night of" in client.get(f"/v1/nights/{DATE}/report").text
        assert client.get(f"/v1/nights/{DATE}/report", params={"format": "json"}).json()["state"] == "closed"
    database.dispose()
