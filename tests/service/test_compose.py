"""The deployment files: valid, without secrets or root, and their very commands run here as processes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from app.cli.main import app as commands
from app.services.keys import create_key
from app.settings import Settings
from app.store.database import Database
from app.vocabulary import EmbedderName, Scope
from tests.conftest import ROOT
from tests.service.processes import environment, free_port

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = ("migrate", "api", "scheduler", "worker")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
KNOWN = {f"PLAYBOOK_{name.upper()}" for name in Settings.model_fields}
VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)(:?[-?][^}]*)?\}")


def test_the_compose_file_fits_the_compose_specification() -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema, which carries the schema, is not installed")
    import jsonschema

    folder = resources.files("check_jsonschema").joinpath("builtin_schemas/vendor")
    schema = json.loads(folder.joinpath("compose-spec.json").read_text(encoding="utf-8"))
    jsonschema.validate(COMPOSE, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"services": {"api": {"ports": "8080", "imagee": "x"}}}, schema)


def test_every_variable_of_ours_is_a_setting() -> None:
    named = {name for service in SERVICES.values() for name in service.get("environment", {})}
    named |= set(re.findall(r"PLAYBOOK_\w+", DOCKERFILE))
    assert {name for name in named if name.startswith("PLAYBOOK_")} - KNOWN == set()
    assert {"PLAYBOOK_DATABASE_URL", "PLAYBOOK_VAR_DIR"} <= named


def test_there_is_no_default_secret_and_every_variable_is_in_the_example() -> None:
    used = dict(VARIABLE.findall((ROOT / "docker-compose.yml").read_text(encoding="utf-8")))
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    given = dict(re.findall(r"^(\w+)=(.*)$", example, re.MULTILINE))
    assert used.keys() == given.keys()
    for name, default in used.items():
        if re.search("PASSWORD|SECRET|KEY|TOKEN", name):
            assert default.startswith(":?"), f"{name} has to be refused where it is empty"
            assert given[name] == ""
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert ".env" in ignored


def test_our_containers_have_neither_root_nor_a_writable_root() -> None:
    for name in OURS:
        assert SERVICES[name]["read_only"] is True, name
        assert SERVICES[name]["image"].startswith("kernel-playbook-")
        assert not SERVICES[name].get("privileged")
    stages = re.split(r"^FROM .* AS (\S+)$", DOCKERFILE, flags=re.MULTILINE)
    bodies = dict(zip(stages[1::2], stages[2::2], strict=True))
    for name in ("api", "worker"):
        user, command = bodies[name].rindex("USER 10001:10001"), bodies[name].rindex("\nCMD")
        assert user < command
        assert "RUN" not in bodies[name][user:command]


def test_what_the_images_copy_exists_and_is_sent_to_the_builder() -> None:
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = {
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
    }
    assert copied == sent
    assert all((ROOT / source).exists() for source in copied)
    extras = set(re.findall(r"\.\[([a-z,]+)\]", DOCKERFILE))
    assert extras == {"onnx,postgres", "onnx,postgres,verification"}


def _said(command: list[str]) -> list[str]:
    return re.findall(r"playbook ([a-z-]+)", " ".join(command))


@pytest.mark.parametrize("name", OURS)
def test_every_command_of_the_compose_file_is_one_of_playbook(name: str) -> None:
    known = {
        entry.name or (entry.callback.__name__ if entry.callback else "") for entry in commands.registered_commands
    }
    said = _said(SERVICES[name]["command"])
    if missing := set(said) & {"worker", "nightly"} - known:
        pytest.skip(f"playbook {', '.join(missing)} has not landed yet")
    assert said
    assert set(said) <= known


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """A folder with `playbook` in it, as the image has one."""
    folder = tmp_path / "bin"
    folder.mkdir()
    _executable(folder / "playbook", f'exec {sys.executable} -m app.cli.main "$@"')
    return folder


def _executable(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def test_the_scheduler_sleeps_until_the_hour_and_then_opens_the_night(tmp_path: Path, bin_folder: Path) -> None:
    log = tmp_path / "log"
    _executable(bin_folder / "playbook", f'echo "playbook $*" >> {log}')
    _executable(bin_folder / "sleep", f'echo "sleep $1" >> {log}; [ "$1" != 60 ] || kill $PPID')
    _executable(bin_folder / "date", "echo 1764540000")  # 22:00 UTC
    command = [part.replace("$$", "$") for part in SERVICES["scheduler"]["command"]]
    env = {"PATH": f"{bin_folder}:{os.environ['PATH']}", "NIGHT_HOUR": "2"}
    subprocess.run(command, env=env, timeout=20, check=False)
    assert log.read_text().splitlines() == [f"sleep {4 * 3600 + 1}", "playbook nightly --json", "sleep 60"]


@contextmanager
def started_like(name: str, env: dict[str, str], cage: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process with the command of a service."""
    process = subprocess.Popen([*cage, *SERVICES[name]["command"]], env=env, cwd=ROOT)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)


def _caged(var: Path, *user: str) -> list[str]:
    """As the container is: nothing is writable but the volume. Empty without bubblewrap."""
    if shutil.which("bwrap") is None:
        return []
    room = ["--ro-bind", "/", "/", "--dev", "/dev", "--bind", str(var), str(var)]
    return ["bwrap", *user, "--die-with-parent", *room, "--"]


def _until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        assert process.poll() is None, "the process ended"
        try:
            if httpx.get(f"{url}/readyz", timeout=5).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError(f"{url} did not become ready")


def test_the_api_needs_neither_root_nor_a_writable_root(settings: Settings, tmp_path: Path, bin_folder: Path) -> None:
    cage = _caged(tmp_path, "--unshare-user", "--uid", "10001", "--gid", "10001", "--cap-drop", "ALL")
    if not cage:
        pytest.skip("bubblewrap is not installed")
    port = free_port()
    path = f"{bin_folder}:{os.environ['PATH']}"
    env = environment(settings, PATH=path, PLAYBOOK_PORT=str(port), PYTHONDONTWRITEBYTECODE="1")
    with started_like("api", env, cage) as process:
        _until_ready(f"http://127.0.0.1:{port}", process)
    written = {path.name for path in settings.var_dir.iterdir()}
    assert written <= {"playbook.sqlite3", "playbook.sqlite3-wal", "playbook.sqlite3-shm", "index", "session-secret"}


@contextmanager
def proxy(folder: Path, ports: list[int]) -> Iterator[str]:
    """nginx with the configuration of the deployment, led to processes of this host."""
    program = shutil.which("nginx")
    if program is None:
        pytest.skip("nginx is not installed: both processes were tested, the proxy before them was not")
    port = free_port()
    text = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    servers = "\n".join(f"server 127.0.0.1:{p} max_fails=1 fail_timeout=5s;" for p in ports)
    for old, new in (
        ("server api:8080 resolve max_fails=1 fail_timeout=5s;", servers),
        ("resolver 127.0.0.11 valid=5s;", ""),
        ("listen 8080;", f"listen 127.0.0.1:{port};"),
        ("/tmp/", f"{folder}/"),
        ("/dev/stderr", f"{folder}/error.log"),
    ):
        assert old in text
        text = text.replace(old, new)
    (folder / "nginx.conf").write_text(text)
    running = subprocess.Popen([program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "daemon off;"])
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(timeout=20)


@pytest.mark.timeout(200)
def test_the_processes_of_the_compose_file_work_together(postgres_url: str, tmp_path: Path, bin_folder: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two", "proxy")]
    for folder in folders:
        folder.mkdir(mode=0o777)
    ports = [free_port(), free_port()]
    settings = Settings(database_url=postgres_url, embedder=EmbedderName.HASH, var_dir=folders[0])
    path = f"{bin_folder}:{os.environ['PATH']}"
    env = environment(settings, PATH=path, PLAYBOOK_AUTH="keys", PYTHONDONTWRITEBYTECODE="1")
    migrated = subprocess.run(SERVICES["migrate"]["command"], env=env, cwd=ROOT, capture_output=True, check=False)
    assert migrated.returncode == 0, migrated.stderr.decode()
    database = Database(settings)
    headers = {"X-API-Key": create_key(database, "test", [Scope.ADMIN]).key}
    database.dispose()
    environments = [
        {**env, "PLAYBOOK_PORT": str(port), "PLAYBOOK_VAR_DIR": str(var)}
        for port, var in zip(ports, folders[:2], strict=True)
    ]
    one, two = (f"http://127.0.0.1:{port}" for port in ports)
    with (
        started_like("api", environments[0], _caged(folders[0])) as first,
        started_like("api", environments[1], _caged(folders[1])) as second,
    ):
        _until_ready(one, first)
        _until_ready(two, second)
        new = {"text": "Seen by every process: fuse the swish into the linear layer's epilogue.", "family": "matmul"}
        item = httpx.post(f"{one}/v1/bullets", json=new, headers=headers).json()
        asked = {"query": "fuse swish into linear epilogue, seen by every process", "top_k": 50}
        found = httpx.post(f"{two}/v1/search", json=asked, headers=headers).json()
        assert item["id"] in [result["id"] for result in found["results"]], "the very next answer has it"
        with proxy(folders[2], ports) as door:
            _until_ready(door, first)
            assert httpx.get(f"{door}/v1/bullets").status_code == 401
            second.kill()
            second.wait()
            answers = [httpx.post(f"{door}/v1/search", json=asked, headers=headers) for _ in range(6)]
            assert [answer.status_code for answer in answers] == [200] * 6
