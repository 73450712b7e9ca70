"""Kill -9 in the middle of an import: the database opens, nothing is half there, a second run completes."""

import random
import signal
import time
from pathlib import Path

import pytest

from app.settings import Settings
from app.store import corpus, embeddings, history, items, migrations
from app.store.database import Database
from tests.service.processes import command, started

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
