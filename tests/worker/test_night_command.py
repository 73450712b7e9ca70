"""`playbook nightly` and `playbook worker` as commands: the whole way with the real evaluator, and beside feedback."""

import json
import subprocess
import sys
import threading
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.services import work_orders
from app.settings import Settings
from app.store import corpus, history
from app.store.database import Database
from tests.conftest import ROOT
from tests.service.processes import COMMAND, command, environment, servers
from tests.worker.fleet import FAST, H200, all_runs, crew, kernel_ids, until

judging = pytest.mark.skipif(
    not (find_spec("torch") and find_spec("triton")), reason="torch or triton is not installed"
)


def nightly(settings: Settings, log: Path, *arguments: str) -> subprocess.Popen[bytes]:
    with log.open("wb") as said:
        return subprocess.Popen(
            [*COMMAND, "nightly", "--json", *arguments],
            env=environment(settings, **FAST),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=said,
        )


def report_of(process: subprocess.Popen[bytes], log: Path) -> Any:
    printed = process.communicate(timeout=550)[0]
    assert process.returncode == 0, log.read_text()[-3000:]
    return json.loads(printed)


@judging
@pytest.mark.timeout(600)
def test_two_nights_at_once_judge_the_starter_corpus_once_and_write_the_report(
    starter_settings: Settings, tmp_path: Path
) -> None:
    database = Database(starter_settings)
    with database.read() as session:
        kernels = {item.source_problem: item.id for item in corpus.items_since(session, -1) if item.kernel}
    chosen = [kernels["softmax_temperature"], kernels["scaled_gelu_residual"]]
    only = [word for kernel in chosen for word in ("--kernel", kernel)]
    logs = [tmp_path / "one.log", tmp_path / "two.log"]
    both = [nightly(starter_settings, log, "--cpu", "--work", *only) for log in logs]
    reports = [report_of(process, log) for process, log in zip(both, logs, strict=True)]
    assert reports[0] == reports[1]
    counts = reports[0]["summary"]["counts"]
    assert (counts["new"], counts["verified"], counts["controls"], counts["runs"]) == (2, 2, 9, 11), counts
    assert (counts["quarantined"], counts["infrastructure"]) == (0, 0)
    found = Counter((run.item_id, run.control, run.problem) for run in all_runs(database))
    assert set(found.values()) == {1}
    assert {run.attempts for run in all_runs(database)} == {1}
    date = reports[0]["date"]
    assert json.loads((starter_settings.var_dir / "nights" / f"{date}.json").read_text()) == reports[0]
    assert (starter_settings.var_dir / "nights" / f"{date}.html").read_text().startswith("<!doctype html>")
    database.dispose()


def test_a_night_while_twenty_clients_vote_loses_neither_a_vote_nor_a_run(
    any_settings: Settings, tmp_path: Path
) -> None:
    from tests.worker.test_faults import filled

    database = filled(any_settings)
    with database.read() as session:
        bullet = next(item.id for item in corpus.items_since(session, -1) if item.kind == "bullet")
        before = history.sums(session).get(bullet, (0, 0))[0]
    answers: list[int] = []
    voters, votes = 20, 10

    def vote(url: str) -> None:
        with httpx.Client(timeout=60) as client:
            for _ in range(votes):
                body = {"reader": "m", "items": [{"id": bullet, "signal": "helpful"}]}
                answers.append(client.post(f"{url}/v1/feedback", json=body).status_code)

    with crew(any_settings, tmp_path) as workers, servers(any_settings) as (url,):
        workers.start(0.05)
        until(lambda: bool(work_orders.living_workers(database)), "a worker lives")
        log = tmp_path / "night.log"
        only = [word for kernel in kernel_ids(database, 5) for word in ("--kernel", kernel)]
        night = nightly(any_settings, log, *only)
        threads = [threading.Thread(target=vote, args=(url,)) for _ in range(voters)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        report = report_of(night, log)
    assert Counter(answers) == {200: voters * votes}
    with database.read() as session:
        assert history.sums(session)[bullet][0] - before == voters * votes
    assert report["hardware"] == [H200]
    assert report["summary"]["counts"]["verified"] == 5
    assert report["summary"]["counts"]["infrastructure"] == 0
    database.dispose()


def test_without_a_worker_or_a_gpu_the_commands_say_what_to_do(starter_settings: Settings) -> None:
    for arguments, advice in (
        (["nightly", "--cpu"], b"--gpu cpu"),
        (["nightly", "--work"], b"nvidia-smi"),
        (["nightly", "--cpu", "--work", "--date", "tonight"], b"2026-11-30"),
        (["worker", "--gpu", "0"], b"nvidia-smi"),
    ):
        done = command(starter_settings, *arguments, PATH=str(Path(sys.executable).parent))
        assert done.returncode in (1, 2), arguments
        assert advice in done.stderr, (arguments, done.stderr)
        assert b"Traceback" not in done.stderr
