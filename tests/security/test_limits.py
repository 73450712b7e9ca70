"""Limits: requests a minute, requests at once, slow clients, pages of strangers, and what browsers are told."""

import socket
import threading
import time
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient

from app.api.headers import SECURE
from app.api.rates import Buckets
from app.main import create_app
from app.settings import Settings
from app.vocabulary import Scope
from tests.security.conftest import Keys
from tests.service.processes import servers


def test_every_route_counts_the_requests_of_a_key(guarded_settings: Settings, keys: Keys) -> None:
    few = guarded_settings.model_copy(update={"rate_limit": 3, "rate_limit_writes": 2})
    first, second = keys(Scope.ADMIN, name="first"), keys(Scope.ADMIN, name="second")
    with TestClient(create_app(few)) as client:
        answers = [client.get(path, headers=first) for path in ("/v1/policies", "/v1/keys", "/nowhere", "/metrics")]
        assert [answer.status_code for answer in answers] == [200, 200, 404, 429]
        assert [answer.headers["ratelimit-remaining"] for answer in answers] == ["2", "1", "0", "0"]
        assert {answer.headers["ratelimit-limit"] for answer in answers} == {"3"}
        refused = answers[-1]
        assert refused.headers["content-type"] == "application/problem+json"
        assert 1 <= int(refused.headers["retry-after"]) <= 20
        assert client.post("/v1/search", json={"query": "x"}, headers=first).status_code == 429
        writes = [client.put("/v1/readers/r", json={}, headers=first).status_code for _ in range(3)]
        assert writes == [200, 200, 429]
        assert client.get("/v1/policies", headers=second).status_code == 200


def test_a_bucket_fills_again_and_never_over_its_rim(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("app.api.rates.time.monotonic", lambda: now)
    buckets = Buckets(60)
    assert [buckets.take("a").allowed for _ in range(61)] == [True] * 60 + [False]
    now += 1.0
    assert [buckets.take("a").allowed for _ in range(2)] == [True, False]
    now += 3600.0
    assert [buckets.take("a").allowed for _ in range(61)] == [True] * 60 + [False]


def test_a_wall_clock_that_jumps_changes_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    buckets = Buckets(2)
    assert buckets.take("a").allowed
    for jump in (-1e9, 1e9):
        monkeypatch.setattr("time.time", lambda jump=jump: jump)
        assert buckets.take("b").allowed
    assert buckets.take("a").allowed
    assert not buckets.take("a").allowed


def test_buckets_of_many_keys_take_bounded_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.api.rates.MOST_BUCKETS", 100)
    now = 0.0
    monkeypatch.setattr("app.api.rates.time.monotonic", lambda: now)
    buckets = Buckets(60)
    for number in range(1000):
        now += 2.0
        buckets.take(str(number))
    assert len(buckets._levels) <= 100


def test_what_comes_beyond_the_most_requests_at_once_is_refused_quickly(
    starter_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go, inside = threading.Event(), threading.Semaphore(0)

    def slow(*_: object) -> None:
        inside.release()
        assert let_go.wait(60)
        raise RuntimeError("over")

    with TestClient(
        create_app(starter_settings.model_copy(update={"max_requests": 2})), raise_server_exceptions=False
    ) as client:
        monkeypatch.setattr("app.services.search.Search.find", slow)
        held = [
            threading.Thread(target=client.post, args=("/v1/search",), kwargs={"json": {"query": "x"}}) for _ in "ab"
        ]
        for thread in held:
            thread.start()
        for _ in held:
            assert inside.acquire(timeout=60)
        refused = client.get("/v1/policies")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert refused.json()["type"] == "urn:kernel-playbook:overloaded"
        assert client.get("/healthz").status_code == 200
        let_go.set()
        for thread in held:
            thread.join()
        assert client.get("/v1/policies").status_code == 200


def test_slow_clients_are_given_up_and_nobody_else_waits(starter_settings: Settings) -> None:
    with servers(starter_settings, PLAYBOOK_PATIENCE_SECONDS="1") as (url,):
        place = (urlsplit(url).hostname, urlsplit(url).port)
        head = (
            b"POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n"
        )
        slow = [socket.create_connection(place, timeout=60) for _ in range(150)]
        for connection in slow[:50]:
            connection.sendall(b"POST /v1/sea")  # half of a head
        for connection in slow[50:100]:
            connection.sendall(head + b"\r\n{")  # half of a body
        assert httpx.post(f"{url}/v1/search", json={"query": "softmax"}, timeout=60).status_code == 200
        assert slow[0].recv(100) == b""
        assert slow[149].recv(100) == b""
        assert b" 408 " in slow[50].recv(100)
        for connection in slow:
            connection.close()
        assert httpx.get(f"{url}/readyz", timeout=60).status_code == 200


def test_a_client_that_takes_no_answer_is_given_up(starter_settings: Settings) -> None:
    from app.api.patience import SlowClients

    async def endless(scope: object, receive: object, send: object) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})  # type: ignore[operator]
        while True:
            await send({"type": "http.response.body", "body": b"x", "more_body": True})  # type: ignore[operator]

    import asyncio

    async def stuck(message: dict[str, object]) -> None:
        if message["type"] == "http.response.body":
            await asyncio.sleep(3600)

    async def nothing() -> dict[str, object]:
        await asyncio.sleep(3600)
        return {}

    began = time.monotonic()
    asyncio.run(SlowClients(endless, seconds=0.2)({"type": "http"}, nothing, stuck))  # type: ignore[arg-type]
    assert time.monotonic() - began < 60


def test_every_answer_tells_browsers_to_do_nothing_with_it(guarded: TestClient) -> None:
    for path in ("/healthz", "/v1/policies", "/nowhere", "/docs"):
        headers = guarded.get(path).headers
        assert SECURE.keys() - {name for name in SECURE if name in headers} == set()
        assert headers["x-content-type-options"] == "nosniff"
    assert "script-src" in guarded.get("/docs").headers["content-security-policy"]
    assert "script-src" not in guarded.get("/v1/policies").headers["content-security-policy"]


def test_an_unexpected_fault_carries_what_every_answer_carries(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("app.api.health.readiness", broken)
    answer = client.get("/readyz", headers={"x-request-id": "mine-7"})
    assert answer.status_code == 500
    assert answer.headers["x-request-id"] == "mine-7"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_pages_of_other_sites_may_not_call_unless_they_are_named(guarded_settings: Settings, keys: Keys) -> None:
    asks = {"Origin": "https://desk.example", "Access-Control-Request-Method": "POST"}
    headers = {**keys(Scope.READ), "Origin": "https://desk.example"}
    with TestClient(create_app(guarded_settings)) as closed:
        assert closed.options("/v1/search", headers=asks).status_code == 401
        assert "access-control-allow-origin" not in closed.get("/v1/policies", headers=headers).headers
    named = guarded_settings.model_copy(update={"cors_origins": "https://desk.example, https://two.example"})
    with TestClient(create_app(named)) as opened:
        asked = opened.options("/v1/search", headers={**asks, "Access-Control-Request-Headers": "x-api-key"})
        assert asked.status_code == 200
        assert asked.headers["access-control-allow-origin"] == "https://desk.example"
        assert "access-control-allow-credentials" not in asked.headers
        other = opened.get("/v1/policies", headers={**headers, "Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:8080"}, 200),
        ({"Host": "[::1]:8080"}, 200),
        ({"Host": "127.0.0.1:8080", "Origin": "http://127.0.0.1:8080"}, 200),
        ({"Host": "rebound.evil.example:8080"}, 403),
        ({"Host": "127.0.0.1:8080", "Origin": "https://evil.example"}, 403),
        ({"Host": "127.0.0.1:8080", "Origin": "null"}, 403),
    ],
)
def test_where_keys_are_off_a_strange_page_gets_no_answer(
    client: TestClient, headers: dict[str, str], status: int
) -> None:
    assert client.get("/v1/policies", headers=headers).status_code == status
