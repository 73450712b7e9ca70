"""Kill -9 in the middle of an import: the database opens, nothing is half there, a second run completes."""

import os
import random
import signal
import threading
import time
from pathlib import Path

import httpx
import pytest

from app.settings import Settings
from app.store import corpus, embeddings, history, items, migrations
from app.store.database import Database
from tests.service.processes import command, process_id, servers, started

WHOLE = {"bullet": 76, "memory": 49, "lesson": 14, "pitfall": 28, "recipe": 21, "kernel": 45}


@pytest.mark.parametrize("seed", range(6))
def test_a_killed_import_leaves_whole_documents_and_a_rerun_completes(
    settings: Settings, seeds: list[Path], seed: int
) -> None:
    process = started(settings, "import", *map(str, seeds))
    # An import takes about three seconds, two of them before the first write.
    time.sleep(random.Random(seed).uniform(1.0, 3.5))
    process.send_signal(signal.SIGKILL)
    process.wait()
    database = Database(settings)
    if not migrations.is_empty(database):
        migrations.require_current(database)
        with database.read() as session:
            whole = corpus.items_since(session, -1)
            assert len(whole) in (0, 196, 233)
            counted = {item.id: (item.helpful, item.harmful) for item in whole if item.helpful or item.harmful}
            assert counted == dict(history.sums(session))
    again = command(settings, "import", *map(str, seeds))
    assert again.returncode == 0, again.stderr.decode()
    with database.read() as session:
        assert items.counts(session) == WHOLE
        assert embeddings.missing(session, "hashing-1", 1) == []
    database.dispose()


@pytest.mark.parametrize("seed", range(3))
def test_a_batch_in_which_the_server_is_killed_is_done_whole_or_not_at_all(
    starter_settings: Settings, seed: int
) -> None:
    database = Database(starter_settings)
    with database.read() as session:
        before = len(corpus.items_since(session, -1))
    adds = [{"op": "ADD", "text": f"Bullet {number} of the batch.", "family": "conv"} for number in range(300)]
    with servers(starter_settings) as (url,):
        pid = process_id(url)
        killer = threading.Timer(random.Random(seed).uniform(0.05, 0.8), os.kill, (pid, signal.SIGKILL))
        killer.start()
        try:
            answered = httpx.post(f"{url}/v1/operations", json={"operations": adds}, timeout=60).status_code == 200
        except httpx.TransportError:
            answered = False
        killer.join()
    with database.read() as session:
        added = len(corpus.items_since(session, -1)) - before
        sums = history.sums(session)
        assert all((i.helpful, i.harmful) == sums.get(i.id, (0, 0)) for i in corpus.items_since(session, -1))
    assert added in (0, 300)
    assert not answered or added == 300
    database.dispose()
