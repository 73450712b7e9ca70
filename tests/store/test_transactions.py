"""Transactions: together or not at all, and writers wait for one another."""

import threading

import pytest
from sqlalchemy import text

from app.errors import DatabaseUnavailable
from app.settings import Settings
from app.store import corpus, items
from app.store.database import Database


def test_a_failing_transaction_leaves_nothing_behind(any_database: Database) -> None:
    with any_database.read() as session:
        before = corpus.state(session).version
    with pytest.raises(RuntimeError), any_database.write() as session:
        corpus.advance(session)
        items.next_id(session, "str")
        raise RuntimeError("in the middle")
    with any_database.read() as session:
        assert corpus.state(session).version == before
    with any_database.write() as session:
        assert items.next_id(session, "str") == "str-00001"


def test_ids_from_many_threads_are_all_different(any_database: Database) -> None:
    given: list[str] = []

    def draw() -> None:
        for _ in range(10):
            with any_database.write() as session:
                given.append(items.next_id(session, "str"))

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(given) == [f"str-{number:05d}" for number in range(1, 81)]


def test_an_id_from_a_source_moves_the_sequence_past_it(any_database: Database) -> None:
    with any_database.write() as session:
        items.note_ids(session, ["str-00076", "str-00002", "mem-00007", "odd-id"])
        assert items.next_id(session, "str") == "str-00077"
        assert items.next_id(session, "mem") == "mem-00008"


def test_a_read_sees_one_state_of_the_database(any_database: Database) -> None:
    with any_database.read() as session:
        before = corpus.state(session).version
        with any_database.write() as other:
            corpus.advance(other)
        assert corpus.state(session).version == before


def test_a_busy_database_is_explained(settings: Settings, database: Database) -> None:
    impatient = Database(settings.model_copy(update={"busy_timeout_ms": 50}))
    with database.write() as session:
        corpus.advance(session)
        with pytest.raises(DatabaseUnavailable, match="stayed busy"), impatient.write() as other:
            corpus.advance(other)
    impatient.dispose()


def test_a_url_that_makes_no_sense_is_explained(settings: Settings) -> None:
    with pytest.raises(DatabaseUnavailable, match="PLAYBOOK_DATABASE_URL"):
        Database(settings.model_copy(update={"database_url": "::nonsense::"}))


def test_a_server_that_is_down_is_explained(settings: Settings) -> None:
    pytest.importorskip("psycopg")
    down = Database(settings.model_copy(update={"database_url": "postgresql://nobody@127.0.0.1:9/none"}))
    with pytest.raises(DatabaseUnavailable, match="does not answer"), down.read() as session:
        session.execute(text("SELECT 1"))
