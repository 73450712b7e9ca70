"""The client against a real server, sync and async; what is sent again, and what is not."""

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

import playbook_client
from app.services.keys import create_key
from app.settings import Settings
from app.store.database import Database
from app.vocabulary import Scope
from playbook_client import AsyncPlaybook, Conflict, Forbidden, InvalidRequest, NotFound, Playbook, Unauthorized
from playbook_client.faults import Unavailable, Unreachable
from playbook_client.retrying import Retries
from tests.conftest import ROOT
from tests.service.processes import servers

FAST = Retries(times=2, first=0.0)


@pytest.fixture
def served(starter_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Callable[..., str]]]:
    """URL of a server that asks for keys, and a maker of keys."""
    monkeypatch.setenv("PLAYBOOK_AUTH", "keys")
    database = Database(starter_settings)
    with servers(starter_settings) as urls:
        yield urls[0], lambda *scopes: create_key(database, f"holder of {' and '.join(scopes)}", scopes).key
    database.dispose()


def test_every_call_works_against_a_real_server(served: tuple[str, Callable[..., str]]) -> None:
    url, key = served
    problem = (ROOT / "bullets" / "problems" / "softmax_temperature.py").read_text()
    source = re.search(r"```python\n(.*)\n```", (ROOT / "bullets/kernels/softmax-temperature.md").read_text(), re.S)
    assert source is not None
    with Playbook(url, key(Scope.ADMIN)) as playbook:
        found = playbook.search(code=problem, top_k=3, explain=True)
        assert len(found.results) == 3
        assert found.results[0].score_details
        context = playbook.context("softmax over long rows", reader="tester", token_budget=500)
        assert context.items
        assert context.tokens <= 500
        given = playbook.feedback({context.items[0]: "helpful"}, context_id=context.context_id, speedup=1.2)
        assert [counters.helpful for counters in given.applied] == [1]
        proposed = playbook.propose("Zigzag tiles help nobody.", proposed_by="tester")
        assert proposed.status == "pending"
        assert playbook.item(proposed.id).text == "Zigzag tiles help nobody."
        kernel = playbook.kernels(source_problem="softmax_temperature")[0]
        assert playbook.kernel(kernel.id).source == source[1]
        again = playbook.add_kernel("softmax_temperature", source[1], "Softmax again.")
        assert again.id == kernel.id
        imported = playbook.import_file(b"- Rules are rules.\n", name="AGENTS.md")
        assert (imported.added, imported.complete) == (1, True)
        assert json.loads(playbook.export("jsonl").splitlines()[0])["type"] == "playbook"

    async def asked() -> None:
        async with AsyncPlaybook(url, key(Scope.READ)) as playbook:
            first, second = await asyncio.gather(playbook.search("softmax", top_k=1), playbook.search("conv", top_k=1))
            assert first.results[0].id != second.results[0].id
            with pytest.raises(Forbidden) as refused:
                await playbook.feedback({"kpb-00001": "helpful"})
            assert refused.value.extra["scopes"] == ["feedback"]

    asyncio.run(asked())


def test_faults_are_classes_with_everything_that_the_service_said(served: tuple[str, Callable[..., str]]) -> None:
    url, key = served
    with pytest.raises(Unauthorized, match="kpb_"), Playbook(url, "nonsense") as stranger:
        stranger.search("x")
    with Playbook(url, key(Scope.ADMIN)) as playbook:
        with pytest.raises(NotFound) as missing:
            playbook.item("str-99999/../../keys")
        assert missing.value.request_id
        with pytest.raises(InvalidRequest) as unknown:
            playbook.context("x", reader="r", policy="best")
        assert unknown.value.type == "urn:kernel-playbook:unknown-policy"
        assert "search" in unknown.value.extra["known"]
        text = playbook.item("kpb-00001").text
        with pytest.raises(Conflict) as twin:
            playbook.propose(text)
        assert twin.value.extra["id"] == "kpb-00001"


def scripted(*outcomes: int | Exception) -> tuple[Playbook, list[httpx.Request]]:
    """A client whose service answers one status or fault after the other, and what it was sent."""
    sent: list[httpx.Request] = []
    left = iter(outcomes)

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        outcome = next(left)
        if isinstance(outcome, Exception):
            raise outcome
        body = {"feedback_id": "f", "applied": [], "unknown_ids": [], "duplicate": False, "items": []}
        return httpx.Response(outcome, json=body if outcome < 400 else {"title": "No", "detail": "Not now."})

    return Playbook("http://playbook", retries=FAST, transport=httpx.MockTransport(answer)), sent


def test_feedback_is_sent_again_under_one_idempotency_key() -> None:
    playbook, sent = scripted(httpx.ReadTimeout("slow"), 503, 200)
    assert playbook.feedback({"str-00001": "helpful"}).feedback_id == "f"
    assert len({request.headers["Idempotency-Key"] for request in sent}) == 1
    assert len(sent) == 3


def test_what_may_have_been_done_is_not_done_twice() -> None:
    playbook, sent = scripted(httpx.ReadTimeout("slow"), 200)
    with pytest.raises(Unreachable):
        playbook.propose("A thought.")
    assert len(sent) == 1


def test_what_was_surely_not_done_is_sent_again() -> None:
    for first in (429, 503, httpx.ConnectError("no route")):
        playbook, sent = scripted(first, 422)
        with pytest.raises(InvalidRequest):
            playbook.propose("A thought.")
        assert len(sent) == 2


def test_after_the_last_try_the_fault_is_told() -> None:
    playbook, sent = scripted(503, 503, 503, 200)
    with pytest.raises(Unavailable, match="Not now"):
        playbook.search("x")
    assert len(sent) == 3
    unreachable, _ = scripted(*[httpx.ConnectError("no route")] * 3)
    with pytest.raises(Unreachable, match="/v1/search: no route"):
        unreachable.search("x")


def test_a_wait_is_as_long_as_the_service_asks_but_not_for_ever() -> None:
    retries = Retries()
    assert retries.wait(1, httpx.Response(503, headers={"Retry-After": "2"})) == 2.0
    assert retries.wait(1, httpx.Response(429, headers={"Retry-After": "9999"})) == retries.longest
    assert 0.125 <= retries.wait(1) <= 0.25
    assert retries.wait(50) <= retries.longest


def test_runs_are_ordered_and_followed_by_id() -> None:
    playbook, sent = scripted(202)
    assert playbook.verify_kernel("ker-00001", ["NVIDIA H200"]) == []
    assert (sent[0].url.path, json.loads(sent[0].content)) == (
        "/v1/kernels/ker-00001/verify",
        {"hardware": ["NVIDIA H200"]},
    )


def test_both_clients_offer_the_same_calls_with_the_same_arguments() -> None:
    def offered(client: type) -> dict[str, list[str]]:
        methods = inspect.getmembers(client, inspect.isfunction)
        return {name: list(inspect.signature(method).parameters) for name, method in methods if name[0] != "_"}

    assert offered(Playbook) == offered(AsyncPlaybook)
    assert all(method.__doc__ for name, method in inspect.getmembers(Playbook, inspect.isfunction) if name[0] != "_")


def test_the_client_needs_nothing_of_the_service() -> None:
    folder = Path(playbook_client.__file__).parent
    imported = {
        line.split()[1].split(".")[0]
        for path in folder.glob("*.py")
        for line in path.read_text().splitlines()
        if line.startswith(("import ", "from "))
    }
    assert "app" not in imported
    assert {name for name in imported if name not in ("playbook_client", "httpx")} <= {
        "asyncio", "collections", "dataclasses", "functools", "os", "random", "time", "typing", "urllib", "uuid",
    }  # fmt: skip
    assert (folder / "py.typed").exists()
