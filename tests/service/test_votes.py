"""Votes under load: fifty clients at once lose nothing and count nothing twice, on both databases."""

import threading

import httpx
import pytest

from app.settings import Settings
from app.store import corpus, history
from app.store.database import Database
from tests.conftest import STARTER
from tests.service.processes import command, servers


@pytest.fixture
def filled(any_settings: Settings) -> Settings:
    """A database with the starter corpus, once on SQLite and once on PostgreSQL."""
    assert command(any_settings, "import", str(STARTER)).returncode == 0
    return any_settings


def test_fifty_threads_times_twenty_votes_are_exactly_a_thousand(filled: Settings) -> None:
    faults: list[str] = []

    def vote(url: str, number: int) -> None:
        with httpx.Client(timeout=60) as client:
            for turn in range(20):
                body = {"reader": f"m-{number % 3}", "items": [{"id": "kpb-00013", "signal": "helpful"}]}
                headers = {"idempotency-key": f"{number}-{turn}"} if number % 2 else {}
                for _ in range(2 if number % 2 else 1):  # a keyed vote is sent twice and counts once
                    answer = client.post(f"{url}/v1/feedback", json=body, headers=headers)
                    if answer.status_code != 200:
                        faults.append(answer.text)

    with servers(filled, 1) as (url,):
        threads = [threading.Thread(target=vote, args=(url, number)) for number in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert faults == []
        assert httpx.get(f"{url}/v1/bullets/kpb-00013").json()["helpful"] == 1000
        readers = httpx.get(f"{url}/v1/bullets/kpb-00013/counters").json()["by_reader"]
        assert sum(votes["helpful"] for votes in readers.values()) == 1000
    database = Database(filled)
    with database.read() as session:
        sums = history.sums(session)
        items = corpus.items_since(session, -1)
    assert all((item.helpful, item.harmful) == sums.get(item.id, (0, 0)) for item in items)
    database.dispose()


def test_one_key_from_many_threads_at_once_counts_once(filled: Settings) -> None:
    answers: list[httpx.Response] = []

    def vote(url: str) -> None:
        body = {"items": [{"id": "kpb-00014", "signal": "harmful"}]}
        answers.append(httpx.post(f"{url}/v1/feedback", json=body, headers={"idempotency-key": "one"}, timeout=60))

    with servers(filled, 2) as urls:
        threads = [threading.Thread(target=vote, args=(urls[number % 2],)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {answer.status_code for answer in answers} == {200}
        assert sum(not answer.json()["duplicate"] for answer in answers) == 1
        assert httpx.get(f"{urls[0]}/v1/bullets/kpb-00014").json()["harmful"] == 1
