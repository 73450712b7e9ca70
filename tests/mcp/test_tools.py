"""The SDK's own client lists and calls every tool, over stdio and over HTTP; keys and scopes decide what it may."""

import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from fastapi.testclient import TestClient
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from app.main import create_app
from app.services.keys import create_key, revoke_key
from app.settings import Settings
from app.store.database import Database
from app.vocabulary import AuthMode, Scope
from tests.conftest import ROOT
from tests.service.processes import command, environment, servers

READING = {"search_playbook", "get_context", "get_item", "list_kernels", "get_kernel", "stats"}
WRITING = {"record_feedback", "propose_item"}


@dataclass(frozen=True)
class Door:
    """A way to the tools: opens a client with a key, or without one."""

    settings: Settings
    opened: Callable[[str], Any]

    def key(self, *scopes: Scope) -> str:
        """A key with these scopes."""
        database = Database(self.settings)
        created = create_key(database, f"{' and '.join(scopes)} {os.urandom(4).hex()}", scopes)
        database.dispose()
        return created.key


@pytest.fixture
def over_stdio(starter_settings: Settings) -> Door:
    """`playbook mcp` as a child process."""

    def opened(key: str) -> Client:
        env = environment(starter_settings, PLAYBOOK_AUTH="keys", PLAYBOOK_API_KEY=key)
        arguments = ["-m", "app.cli.main", "mcp"]
        return Client(StdioServerParameters(command=sys.executable, args=arguments, env=env, cwd=ROOT))

    return Door(starter_settings, opened)


@pytest.fixture
def over_http(starter_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Door]:
    """`/mcp` of a server process that asks for keys."""
    monkeypatch.setenv("PLAYBOOK_AUTH", AuthMode.KEYS)
    with servers(starter_settings) as urls:

        @asynccontextmanager
        async def opened(key: str) -> AsyncIterator[Client]:
            headers = {"X-API-Key": key} if key else {}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as http,
                Client(streamable_http_client(f"{urls[0]}/mcp", http_client=http)) as client,
            ):
                yield client

        yield Door(starter_settings, opened)


@pytest.fixture(params=["stdio", "http"])
def door(request: pytest.FixtureRequest) -> Door:
    """Both ways in turn."""
    found: Door = request.getfixturevalue(f"over_{request.param}")
    return found


def run(door: Door, key: str, asked: Callable[[Client], Awaitable[None]]) -> None:
    """Opens a client and lets a test use it."""

    async def used() -> None:
        with anyio.fail_after(120):
            async with door.opened(key) as client:
                await asked(client)

    anyio.run(used)


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers; its text says the same as its structured content, and both are small."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return dict(answer.structured_content)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """The message of a call that is refused."""
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return str(answer.content[0].text)


def test_a_client_lists_and_calls_every_tool(door: Door) -> None:
    async def asked(client: Client) -> None:
        listed = (await client.list_tools()).tools
        assert {tool.name for tool in listed} == READING | WRITING
        assert {tool.name for tool in listed if tool.annotations and tool.annotations.read_only_hint} == READING
        assert all(tool.description and tool.output_schema for tool in listed)

        found = await call(client, "search_playbook", task="fuse a linear layer, swish and group norm", top_k=3)
        assert len(found["hits"]) == 3
        assert "raise top_k" in found["more"]
        assert all(len(hit["text"]) <= 320 for hit in found["hits"])
        first = found["hits"][0]["id"]

        context = await call(client, "get_context", task="softmax over long rows", reader="tester", token_budget=400)
        assert context["tokens"] <= 400
        assert set(context["items"]) == set(re.findall(r"^\[([a-z]+-\d+)\]", context["text"], re.M))

        item = await call(client, "get_item", id=first.upper())
        assert (item["id"], item["status"]) == (first, "active")

        kernels = await call(client, "list_kernels", limit=2)
        assert (len(kernels["kernels"]), kernels["total"]) == (2, 14)
        rest = await call(client, "list_kernels", limit=100, after=kernels["kernels"][-1]["id"])
        assert len(rest["kernels"]) == 12
        kernel = await call(client, "get_kernel", id=kernels["kernels"][0]["id"])
        assert "class ModelNew" in kernel["source"]
        bare = await call(client, "get_kernel", id=kernel["id"], source=False)
        assert bare["source"] == ""

        votes = [{"id": context["items"][0], "signal": "helpful"}, {"id": "str-99999", "signal": "harmful"}]
        given = {"items": votes, "context_id": context["context_id"], "reader": "tester"}
        counted = await call(client, "record_feedback", **given, outcome={"success": True, "speedup": 1.5})
        assert [entry["helpful"] for entry in counted["applied"]] == [1]
        assert (counted["unknown_ids"], counted["duplicate"]) == (["str-99999"], False)
        again = await call(client, "record_feedback", **given, outcome={"success": True, "speedup": 1.5})
        assert again["duplicate"] is True

        proposed = await call(client, "propose_item", text="Zigzag tiles help nobody here.", evidence="a test")
        assert proposed["status"] == "pending"
        stats = await call(client, "stats")
        assert (stats["items"]["kernel"], stats["waiting"]) == (14, 1)

    run(door, door.key(Scope.READ, Scope.FEEDBACK, Scope.CONTRIBUTE), asked)


def test_a_key_may_only_what_its_scopes_say(door: Door) -> None:
    async def asked(client: Client) -> None:
        assert (await call(client, "stats"))["items"]
        message = await refused(client, "record_feedback", items=[{"id": "kpb-00001", "signal": "helpful"}])
        assert "lacks the scope feedback" in message
        assert "playbook keys create" in message
        assert "contribute" in await refused(client, "propose_item", text="No.")

    run(door, door.key(Scope.READ), asked)


def test_errors_say_what_to_do(door: Door) -> None:
    async def asked(client: Client) -> None:
        assert "search_playbook lists ids" in await refused(client, "get_item", id="str-99999")
        assert "get_item('kpb-00013')" in await refused(client, "get_kernel", id="kpb-00013")
        assert "Choose one of" in await refused(client, "get_context", task="x", reader="r", policy="best")
        assert "code (a PyTorch module)" in await refused(client, "search_playbook")
        assert "top_k" in await refused(client, "search_playbook", task="softmax", top_k=1000)
        assert "Token budget" in await refused(client, "get_context", task="softmax", reader="r", token_budget=1)
        item = await call(client, "get_item", id="kpb-00013")
        known = {"text": item["text"], "kind": item["kind"]}
        assert "kpb-00013 has this very text" in await refused(client, "propose_item", **known)

    run(door, door.key(Scope.ADMIN), asked)


def test_over_http_a_wrong_or_revoked_key_opens_nothing(over_http: Door) -> None:
    key = over_http.key(Scope.READ)
    database = Database(over_http.settings)
    revoke_key(database, f"key-{key.split('_')[1]}")
    database.dispose()
    for wrong in ("", "nonsense", key):
        with pytest.raises(BaseException) as fault:  # noqa: PT011  what the SDK raises depends on the transport

            async def never(client: Client) -> None:
                raise AssertionError("the client was let in")

            run(over_http, wrong, never)
        assert "the client was let in" not in repr(fault.value)


def test_over_stdio_a_wrong_key_ends_the_command_with_a_reason(starter_settings: Settings) -> None:
    done = command(starter_settings, "mcp", PLAYBOOK_API_KEY="kpb_wrong")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"not a key of this playbook" in done.stderr


def test_over_stdio_whoever_runs_the_command_is_trusted_to_read_vote_and_propose(over_stdio: Door) -> None:
    async def asked(client: Client) -> None:
        assert (await call(client, "propose_item", text="A local thought."))["status"] == "pending"
        voted = await call(client, "record_feedback", items=[{"id": "kpb-00001", "signal": "helpful"}])
        assert voted["applied"][0]["helpful"] == 1

    run(over_stdio, "", asked)


def test_a_revoked_key_stops_working_in_an_open_session(over_stdio: Door) -> None:
    key = over_stdio.key(Scope.READ)

    async def asked(client: Client) -> None:
        await call(client, "stats")
        database = Database(over_stdio.settings)
        revoke_key(database, f"key-{key.split('_')[1]}")
        database.dispose()
        with anyio.fail_after(30):
            while not (answer := await client.call_tool("stats", {})).is_error:
                await anyio.sleep(0.2)
        assert "was revoked" in answer.content[0].text

    run(over_stdio, key, asked)


def test_the_door_answers_401_before_any_protocol(starter_settings: Settings) -> None:
    guarded = starter_settings.model_copy(update={"auth": AuthMode.KEYS})
    with TestClient(create_app(guarded)) as client:
        answer: httpx.Response = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert (answer.status_code, answer.headers["content-type"]) == (401, "application/problem+json")
