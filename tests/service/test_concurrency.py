"""Writers and readers at once, on one server and on two: no error, no lost write, no ghost."""

import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx
import pytest

from app.settings import Settings
from tests.service.processes import servers

WRITERS = READERS = 8


@dataclass
class Ledger:
    """What the clients know to be true."""

    alive: dict[str, str] = field(default_factory=dict)
    retired: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    searches: int = 0
    writes: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def write(urls: Sequence[str], ledger: Ledger, number: int, until: float) -> None:
    chance = random.Random(number)
    mine: dict[str, int] = {}
    with httpx.Client(timeout=30) as client:
        turn = 0
        while time.monotonic() < until:
            turn += 1
            url = chance.choice(urls)
            text = f"For softmax over rows number {number}x{turn}, keep one row in registers."
            made = client.post(f"{url}/v1/bullets", json={"text": text, "family": "softmax"})
            check(ledger, made, 201)
            item_id = made.json()["id"]
            mine[item_id] = 1
            with ledger.lock:
                ledger.alive[item_id] = text
                ledger.writes += 1
            must_find(client, chance.choice(urls), ledger, item_id)
            victim = chance.choice(list(mine))
            if chance.random() < 0.4:
                check(ledger, client.delete(f"{chance.choice(urls)}/v1/bullets/{victim}"), 200)
                del mine[victim]
                with ledger.lock:
                    ledger.retired.add(victim)
                    del ledger.alive[victim]
            else:
                new = f"{ledger.alive[victim]} Edited."
                edit = {"version": mine[victim], "text": new}
                check(ledger, client.patch(f"{chance.choice(urls)}/v1/bullets/{victim}", json=edit), 200)
                mine[victim] += 1
                with ledger.lock:
                    ledger.alive[victim] = new


def read(urls: Sequence[str], ledger: Ledger, number: int, until: float) -> None:
    chance = random.Random(1000 + number)
    with httpx.Client(timeout=30) as client:
        while time.monotonic() < until:
            with ledger.lock:
                gone_before = set(ledger.retired)
            asked = {"query": "softmax over rows", "top_k": 200, "diversify": False, "threshold": 0}
            answer = client.post(f"{chance.choice(urls)}/v1/search", json=asked)
            check(ledger, answer, 200)
            ghosts = gone_before & {result["id"] for result in answer.json()["results"]}
            with ledger.lock:
                ledger.searches += 1
                ledger.faults.extend(f"ghost {ghost}" for ghost in ghosts)


def must_find(client: httpx.Client, url: str, ledger: Ledger, item_id: str) -> None:
    asked = {"query": "softmax over rows", "threshold": 0, "filters": {"id": {"eq": item_id}}}
    answer = client.post(f"{url}/v1/search", json=asked)
    check(ledger, answer, 200)
    if [result["id"] for result in answer.json()["results"]] != [item_id]:
        ledger.faults.append(f"{item_id} was written and not found")


def check(ledger: Ledger, answer: httpx.Response, status: int) -> None:
    if answer.status_code != status:
        ledger.faults.append(f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text[:200]}")


def guarded(work: object, ledger: Ledger, *arguments: object) -> None:
    try:
        work(*arguments)  # type: ignore[operator]
    except Exception as fault:  # noqa: BLE001  a client's crash is the result of the test
        ledger.faults.append(repr(fault))


@pytest.mark.parametrize(("count", "seconds"), [(1, 20), (2, 10)], ids=["one server", "two servers"])
def test_writers_and_readers_at_once(starter_settings: Settings, count: int, seconds: float) -> None:
    ledger = Ledger()
    with servers(starter_settings, count) as urls:
        until = time.monotonic() + seconds
        threads = [
            threading.Thread(target=guarded, args=(work, ledger, urls, ledger, number, until))
            for work, clients in ((write, WRITERS), (read, READERS))
            for number in range(clients)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ledger.faults == []
        assert ledger.writes > 20
        assert ledger.searches > 20
        for url in urls:
            for item_id, text in ledger.alive.items():
                item = httpx.get(f"{url}/v1/bullets/{item_id}").json()
                assert (item["text"], item["status"]) == (text, "active")
            ready = httpx.get(f"{url}/readyz").json()
            assert "0 without a vector" in ready["checks"]["index"]


def test_a_writer_in_another_process_is_seen_by_the_next_search(starter_settings: Settings) -> None:
    with servers(starter_settings, 2) as (first, second):
        for number in range(10):
            made = httpx.post(
                f"{first}/v1/bullets", json={"text": f"A note on cumsum, number {number}.", "family": "scan"}
            )
            asked = {"query": "cumsum", "filters": {"id": {"eq": made.json()["id"]}}, "threshold": 0}
            assert len(httpx.post(f"{second}/v1/search", json=asked).json()["results"]) == 1
