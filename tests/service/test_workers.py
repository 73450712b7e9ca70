"""Several processes behind one port answer as one, and end as one."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from app.settings import Settings
from tests.service.processes import process_id, servers

QUESTION = {"query": "softmax over rows", "top_k": 200, "threshold": 0, "diversify": False}


def test_a_write_through_one_worker_is_in_the_next_answer_of_every_worker(starter_settings: Settings) -> None:
    with servers(starter_settings, more=("--workers", "2")) as (url,), ThreadPoolExecutor(8) as pool:
        clients = [httpx.Client(base_url=url, timeout=30) for _ in range(8)]
        for number in range(3):
            text = f"Softmax over rows, note {number}: keep the running maximum in a register of its own."
            made = clients[number].post("/v1/bullets", json={"text": text, "family": "softmax"})
            assert made.status_code == 201, made.text
            answers = list(pool.map(lambda client: client.post("/v1/search", json=QUESTION).json(), clients))
            assert all(made.json()["id"] in [one["id"] for one in answer["results"]] for answer in answers)
        for client in clients:
            client.close()
        parent = process_id(url)
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()
        assert len(children) >= 2
    deadline = time.monotonic() + 20
    while any(_alive(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(_alive(child) for child in children)


def _alive(process: str) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return False
