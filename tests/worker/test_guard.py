"""The guard of a work order, on both databases: who changes the row does the step, and nobody else."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from app.records import Run
from app.retrieval.hashing import HashingEmbedder
from app.services import curation, work_orders
from app.services.curation import Curator
from app.services.queue import Queue
from app.store import corpus, items, runs
from app.store import work_orders as guard
from app.store.database import Database
from app.store.work_orders import Outcome
from app.vocabulary import ItemKind
from tests.worker.fleet import H200

SOURCE = "import triton\n\nclass ModelNew:\n    pass\n"
FUTURE = datetime.now(UTC) + timedelta(days=1)


def found(verdict: str, speedup: str | None = None, evaluator: str = "1-a") -> Outcome:
    figures = {"figures": None, "flags": [], "detail": "", "evidence": {}, "phases": {}, "seconds": 1.0}
    return Outcome(verdict, Decimal(speedup) if speedup else None, figures, {"evaluator": evaluator})


@pytest.fixture
def kernel(any_database: Database) -> str:
    fields = {"kernel_source": SOURCE, "family": "norm", "claimed_speedup": Decimal("2.00"), "source_problem": "L2_072"}
    curator = Curator(any_database, HashingEmbedder(), "tester")
    return curation.create(curator, ItemKind.KERNEL, "A kernel of this test.", fields).id


def ordered(database: Database, kernel: str) -> Run:
    return work_orders.order(database, Queue(database.settings), [kernel], [H200], actor="tester")[0]


def claimed(database: Database, run_id: str, worker: str) -> Run | None:
    with database.write() as session:
        return guard.claim(session, run_id, worker)


def judged(database: Database, kernel: str, verdict: str, speedup: str | None = None, evaluator: str = "1-a") -> None:
    run = claimed(database, ordered(database, kernel).id, "w")
    assert run is not None
    assert work_orders.keep_verdict(database, run, found(verdict, speedup, evaluator))


def told(database: Database, kernel: str) -> tuple[str, Decimal | None] | None:
    """What readers with this hardware are told of the kernel."""
    with database.read() as session:
        measured = corpus.facts(session).measurements.get(H200, {}).get(kernel)
    return (measured.verdict, measured.speedup) if measured else None


def demoted(database: Database, kernel: str) -> bool:
    with database.read() as session:
        item = items.get(session, kernel)
    assert item is not None
    return H200 in (item.demotions or {})


def test_an_order_is_claimed_once(any_database: Database, kernel: str) -> None:
    run = ordered(any_database, kernel)
    first, second = claimed(any_database, run.id, "a"), claimed(any_database, run.id, "b")
    assert first is not None
    assert (first.worker, first.attempts, second) == ("a", 1, None)
    assert claimed(any_database, "run-unknown", "a") is None


def test_a_verdict_of_an_attempt_that_was_given_up_changes_nothing(any_database: Database, kernel: str) -> None:
    first = claimed(any_database, ordered(any_database, kernel).id, "frozen")
    assert first is not None
    with any_database.write() as session:
        swept = guard.sweep(session, FUTURE, most_lost=3)
        assert swept.requeued == [(first.id, H200)]
        assert not guard.beat(session, first.id, first.attempts, "timing"), "a frozen worker learns that it must stop"
    assert not work_orders.keep_verdict(any_database, first, found("runtime_error"))
    second = claimed(any_database, first.id, "replacement")
    assert second is not None
    assert second.attempts == 2
    assert not work_orders.keep_verdict(any_database, first, found("runtime_error"))
    assert work_orders.keep_verdict(any_database, second, found("verified", "1.5"))
    assert not work_orders.keep_verdict(any_database, second, found("runtime_error")), "finished is finished"
    assert told(any_database, kernel) == ("verified", Decimal("1.50"))


def test_what_is_lost_too_often_is_given_up_without_blame(any_database: Database, kernel: str) -> None:
    judged(any_database, kernel, "verified", "1.5")
    run = ordered(any_database, kernel)
    for _ in range(3):
        assert claimed(any_database, run.id, "doomed") is not None
        with any_database.write() as session:
            guard.sweep(session, FUTURE, most_lost=3)
    with any_database.read() as session:
        ended = runs.get(session, run.id)
    assert ended is not None
    assert (ended.state, ended.verdict, ended.lost, ended.attempts) == ("finished", "infra_error", 3, 3)
    assert told(any_database, kernel) == ("verified", Decimal("1.50"))


def test_what_a_stopping_worker_puts_back_counts_as_no_loss(any_database: Database, kernel: str) -> None:
    run = ordered(any_database, kernel)
    for attempt in range(1, 6):
        again = claimed(any_database, run.id, "stopping")
        assert again is not None
        assert again.attempts == attempt
        with any_database.write() as session:
            assert guard.release(session, run.id, attempt)
            assert not guard.release(session, run.id, attempt)
            assert guard.sweep(session, FUTURE, most_lost=1).given_up == []
    with any_database.read() as session:
        assert [run_id for run_id, _ in guard.queued(session, H200)] == [run.id]


def test_a_living_worker_is_not_swept(any_database: Database, kernel: str) -> None:
    run = claimed(any_database, ordered(any_database, kernel).id, "alive")
    assert run is not None
    swept = work_orders.sweep(any_database, Queue(any_database.settings))
    assert (swept.requeued, swept.given_up) == ([], [])


def test_one_worse_run_takes_nothing_away_two_that_agree_do_and_a_good_one_gives_back(
    any_database: Database, kernel: str
) -> None:
    judged(any_database, kernel, "verified", "1.9")
    judged(any_database, kernel, "verified_slower", "0.7")
    assert (told(any_database, kernel), demoted(any_database, kernel)) == (("verified", Decimal("1.90")), False)
    judged(any_database, kernel, "incorrect_value")
    assert told(any_database, kernel) == ("verified", Decimal("1.90")), "the two do not agree"
    judged(any_database, kernel, "profiler_fault")
    judged(any_database, kernel, "runtime_error")
    assert (told(any_database, kernel), demoted(any_database, kernel)) == (("runtime_error", None), True)
    judged(any_database, kernel, "verified", "1.8")
    assert (told(any_database, kernel), demoted(any_database, kernel)) == (("verified", Decimal("1.80")), False)


def test_runs_of_two_evaluators_do_not_agree(any_database: Database, kernel: str) -> None:
    judged(any_database, kernel, "verified", "1.9")
    judged(any_database, kernel, "incorrect_value", evaluator="1-a")
    judged(any_database, kernel, "incorrect_value", evaluator="1-b")
    assert not demoted(any_database, kernel)
    judged(any_database, kernel, "incorrect_value", evaluator="1-b")
    assert demoted(any_database, kernel)


def test_infrastructure_faults_never_demote(any_database: Database, kernel: str) -> None:
    judged(any_database, kernel, "verified", "1.9")
    for verdict in ("infra_error", "gpu_unhealthy", "profiler_fault", "cancelled") * 2:
        judged(any_database, kernel, verdict)
    assert (told(any_database, kernel), demoted(any_database, kernel)) == (("verified", Decimal("1.90")), False)


def test_a_demotion_stands_in_the_history_and_can_be_reverted(any_database: Database, kernel: str) -> None:
    judged(any_database, kernel, "verified", "1.9")
    for _ in range(2):
        judged(any_database, kernel, "verified_slower", "0.7")
    told_history, _ = curation.item_history(any_database, kernel)
    last = told_history[-1]
    assert last.actor == "verification"
    assert "demoted on NVIDIA H200: verified_slower, measured 0.70x, two runs agree" in (last.note or "")
    curator = Curator(any_database, HashingEmbedder(), "ada")
    curation.revert(curator, kernel, last.version, last.version - 1, "the machine was throttled")
    assert (told(any_database, kernel), demoted(any_database, kernel)) == (("verified", Decimal("1.90")), False)


def test_after_a_person_took_a_demotion_back_two_new_runs_must_agree(any_database: Database, kernel: str) -> None:
    judged(any_database, kernel, "verified", "1.9")
    for _ in range(2):
        judged(any_database, kernel, "verified_slower", "0.7")
    version = curation.item_history(any_database, kernel)[0][-1].version
    curation.revert(Curator(any_database, HashingEmbedder(), "ada"), kernel, version, version - 1, "it was throttled")
    judged(any_database, kernel, "verified_slower", "0.7")
    assert not demoted(any_database, kernel)
    judged(any_database, kernel, "verified_slower", "0.7")
    assert demoted(any_database, kernel)


def test_an_edit_of_the_code_ends_what_other_code_was_told_of(any_database: Database, kernel: str) -> None:
    for _ in range(2):
        judged(any_database, kernel, "incorrect_value")
    assert demoted(any_database, kernel)
    curator = Curator(any_database, HashingEmbedder(), "ada")
    version = curation.item_history(any_database, kernel)[0][-1].version
    curation.edit(curator, kernel, version, {"kernel_source": SOURCE + "# mended\n"})
    assert (told(any_database, kernel), demoted(any_database, kernel)) == (None, False)
