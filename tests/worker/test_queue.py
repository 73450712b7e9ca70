"""One code path for all three stores of the queue; messages are JSON; a queue that is down loses and fails nothing."""

import json
import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import InvalidInput
from app.services.queue import Queue, queue_name
from app.settings import Settings
from app.vocabulary import EmbedderName
from tests.worker.fleet import H200


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    pytest.importorskip("redis", reason="redis is not installed")
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen(
        [program, "--port", str(port), "--dir", str(tmp_path), "--save", ""], stdout=subprocess.DEVNULL
    ) as server:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"redis://127.0.0.1:{port}/0"
        server.terminate()


@pytest.fixture(params=["sqlite", "postgresql", "redis"])
def queue_settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    fixture = {"postgresql": "postgres_url", "redis": "redis_url"}.get(request.param)
    url = request.getfixturevalue(fixture) if fixture else ""
    return Settings(var_dir=tmp_path / "var", embedder=EmbedderName.HASH, queue_url=url)


def test_what_is_offered_wakes_the_workers_of_that_hardware_alone(queue_settings: Settings) -> None:
    queue, seen = Queue(queue_settings), []
    assert queue.offer(H200, ["run-1", "run-2"])
    assert queue.offer("cpu-interpreter", ["run-3"])
    assert (queue.waiting(H200), queue.waiting("cpu-interpreter"), queue.waiting("NVIDIA L4")) == (2, 1, 0)
    consumer = Queue(queue_settings).for_worker(H200, seen.append)
    for _ in range(2):
        task = consumer.dequeue()
        consumer.execute(task)
    assert seen == ["run-1", "run-2"]
    assert queue.waiting(H200) == 0
    consumer.storage.close()


def test_messages_are_json(tmp_path: Path) -> None:
    Queue(Settings(var_dir=tmp_path)).offer(H200, ["run-1"])
    stored = sqlite3.connect(tmp_path / "queue.sqlite3").execute("SELECT data FROM task").fetchone()[0]
    assert "run-1" in json.dumps(json.loads(bytes(stored)))


def test_a_queue_that_does_not_answer_fails_nobody() -> None:
    pytest.importorskip("redis", reason="redis is not installed")
    queue = Queue(Settings(queue_url="redis://127.0.0.1:1/0"))
    assert not queue.offer(H200, ["run-1"])
    assert queue.waiting(H200) is None


def test_an_unknown_kind_of_queue_is_refused_with_advice() -> None:
    with pytest.raises(InvalidInput, match="postgresql:// or redis://"):
        Queue(Settings(queue_url="amqp://host")).offer(H200, ["run-1"])


def test_names_of_queues_are_plain() -> None:
    assert queue_name("NVIDIA H200") == "playbook-nvidia-h200"
    assert queue_name("NVIDIA GeForce RTX 4090 / 24GB") == "playbook-nvidia-geforce-rtx-4090-24gb"
