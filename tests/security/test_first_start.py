"""The first start: one admin key, printed once, however many servers start; keys off on loopback only."""

import json
import re
import subprocess
import sys
import tempfile
import time

import httpx
import pytest
from click.testing import Result
from typer.testing import CliRunner

from app.cli.main import app
from app.errors import Conflict, Unguarded
from app.services.start import require_guarded
from app.settings import Settings
from app.vocabulary import AuthMode
from tests.service.processes import command, environment

KEY = re.compile(rb"kpb_[0-9a-f]{12}_[A-Za-z0-9_-]{43}")


def test_of_two_servers_that_start_at_once_one_prints_the_one_admin_key(settings: Settings) -> None:
    assert command(settings, "migrate").returncode == 0
    logs = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115  closed below, after the servers
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "app.cli.main", "serve", "--port", "0"],
            env=environment(settings, PLAYBOOK_AUTH="keys"),
            stderr=log,
            stdout=subprocess.DEVNULL,
        )
        for log in logs
    ]
    try:
        printed = _printed(logs)
        assert len(printed) == 1
        listed = command(settings, "keys", "list")
        assert (listed.stdout.count(b"first-run"), listed.stdout.count(b"\n")) == (1, 1)
        assert printed[0] not in listed.stdout
        port = _port(logs[0])
        answer = httpx.get(f"http://127.0.0.1:{port}/v1/keys", headers={"X-API-Key": printed[0].decode()})
        assert answer.status_code == 200
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(timeout=30)
        for log in logs:
            log.close()


def _printed(logs: list) -> list[bytes]:  # type: ignore[type-arg]
    """Keys in the logs, once all servers are up."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        texts = [_text(log) for log in logs]
        if all(b"Uvicorn running" in text for text in texts):
            return [key for text in texts for key in KEY.findall(text)]
        time.sleep(0.2)
    raise AssertionError(b"\n".join(map(_text, logs)).decode())


def _port(log) -> int:  # type: ignore[no-untyped-def]
    found = re.search(rb"http://127\.0\.0\.1:(\d+)", _text(log))
    assert found
    return int(found[1])


def _text(log) -> bytes:  # type: ignore[no-untyped-def]
    log.seek(0)
    content: bytes = log.read()
    return content


def test_keys_off_is_refused_on_a_host_that_others_reach(settings: Settings) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "playbook.example", ""):
        with pytest.raises(Unguarded, match="PLAYBOOK_AUTH"):
            require_guarded(settings.model_copy(update={"auth": AuthMode.OFF, "host": host}))
    for host in ("127.0.0.1", "127.8.9.1", "::1", "localhost"):
        require_guarded(settings.model_copy(update={"auth": AuthMode.OFF, "host": host}))
    require_guarded(settings.model_copy(update={"auth": AuthMode.KEYS, "host": "0.0.0.0"}))


def test_serve_refuses_keys_off_on_another_host_with_one_message(settings: Settings) -> None:
    done = command(settings, "serve", "--host", "0.0.0.0", PLAYBOOK_AUTH="off")
    assert done.returncode == 1
    assert b"PLAYBOOK_AUTH=off is refused" in done.stderr
    assert b"Traceback" not in done.stderr


def test_keys_are_made_listed_and_revoked_on_the_command_line(settings: Settings) -> None:
    def playbook(*arguments: str) -> Result:
        return CliRunner().invoke(app, ["keys", *arguments])

    plain = playbook("create", "--name", "me", "--scope", "read", "--scope", "feedback")
    assert KEY.fullmatch(plain.stdout.strip().encode()), "standard output holds the key alone, for KEY=$(...)"
    made = json.loads(playbook("create", "--name", "ci", "--scope", "admin", "--json").stdout)
    assert made["scopes"] == ["admin"]
    ends = playbook("create", "--name", "x", "--scope", "read", "--expires-days", "2", "--json")
    assert json.loads(ends.stdout)["expires_at"]
    listed = json.loads(playbook("list", "--json").stdout)
    assert [key["name"] for key in listed] == ["me", "ci", "x"]
    assert made["key"] not in json.dumps(listed)
    assert playbook("revoke", made["id"]).exit_code == 0
    assert "revoked" in playbook("list").stdout
    assert playbook("create", "--name", "y", "--scope", "everything").exit_code == 2
    assert isinstance(playbook("create", "--name", "me", "--scope", "read").exception, Conflict)
