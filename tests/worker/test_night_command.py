"""`playbook nightly` and `playbook worker` as commands: the whole way with the real evaluator, and beside feedback."""

import json
import subprocess
import sys
import threading
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

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


def nightly(settings: Settings, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, "nightly", "--json", *arguments],
        env=environment(settings, **FAST),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


@judging
def test_two_nights_at_once_judge_the_starter_corpus_once_and_write_the_report(starter_settings: Settings) -> None:
    database = Database(starter_settings)
    with database.read() as session:
        kernels = {item.source_problem: item.id for item in corpus.items_since(session, -1) if item.kernel}
    chosen = [kernels["softmax_temperature"], kernels["scaled_gelu_residual"]]
    only = [word for kernel in chosen for word in ("--kernel", kernel)]
    both = [nightly(starter_settings, "--cpu", "--work", *only) for _ in range(2)]
    reports = [json.loads(process.communicate(timeout=280)[0]) for process in both]
    assert [process.returncode for process in both] == [0, 0]
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
        night = nightly(any_settings)
        threads = [threading.Thread(target=vote, args=(url,)) for _ in range(voters)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        report = json.loads(night.communicate(timeout=200)[0])
    assert night.returncode == 0
    assert Counter(answers) == {200: voters * votes}
    with database.read() as session:
        assert history.sums(session)[bullet][0] - before == voters * votes
    assert report["hardware"] == [H200]
    assert report["summary"]["counts"]["verified"] == len(kernel_ids(database))
    assert report["summary"]["counts"]["infrastructure"] == 0
    database.dispose()


def test_without_a_worker_or_a_gpu_the_commands_say_what_to_do(starter_settings: Settings) -> None:
    for arguments, advice in (
        (["nightly"], b"playbook worker"),
        (["nightly", "--cpu"], b"--gpu cpu"),
        (["nightly", "--work"], b"nvidia-smi"),
        (["nightly", "--cpu", "--work", "--date", "tonight"], b"2026-11-30"),
        (["worker"], b"nvidia-smi"),
        (["worker", "--gpu", "0"], b"nvidia-smi"),
        (["worker", "--gpu", "first"], b"index"),
    ):
        done = command(starter_settings, *arguments, PATH=str(Path(sys.executable).parent))
        assert done.returncode in (1, 2), arguments
        assert advice in done.stderr, (arguments, done.stderr)
        assert b"Traceback" not in done.stderr
