"""POST /v1/import: one file in one request, any format, once; what cannot be taken is named with its line."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests.interop.test_foreign_files import FILES

PLAYBOOK = "## s\n[str-00001] helpful=2 harmful=0 :: Zigzag schedules.\n[str-00002] helpful=x :: Bad.\n"


def send(client: TestClient, content: str | bytes, **query: str | bool) -> dict[str, object]:
    answer = client.post("/v1/import", params=query, content=content)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_lines_that_can_be_taken_are_and_the_others_are_named(client: TestClient) -> None:
    first = send(client, PLAYBOOK, name="playbook.txt")
    assert (first["added"], first["complete"]) == (1, False)
    assert first["faults"] == [
        {
            "file": "playbook.txt",
            "line": 3,
            "reason": "helpful=x is not a whole number of votes (0 or more, ASCII digits)",
            "taken": False,
        }
    ]
    again = send(client, PLAYBOOK, name="playbook.txt")
    assert (again["added"], again["changed"], again["facts"], again["embedded"]) == (0, 0, 0, 0)
    item = client.get("/v1/bullets/str-00001").json()
    assert (item["text"], item["helpful"]) == ("Zigzag schedules.", 2)
    found = client.post("/v1/search", json={"query": "zigzag schedules", "threshold": 0, "top_k": 200}).json()
    assert "str-00001" in [result["id"] for result in found["results"]]


def test_a_dry_run_tells_and_writes_nothing(client: TestClient) -> None:
    assert send(client, PLAYBOOK, dry_run=True)["added"] == 1
    assert client.get("/v1/bullets/str-00001").status_code == 404


@pytest.mark.parametrize("file", sorted(FILES.glob("*.*")), ids=lambda file: file.name)
def test_files_of_other_systems_come_in_by_the_same_door(client: TestClient, file: Path) -> None:
    if file.name == "README.md":
        return
    answer = send(client, file.read_bytes(), name=file.name)
    assert answer["complete"] is True
    assert answer["added"]


def test_rules_wait_as_pending_and_are_in_no_answer(client: TestClient) -> None:
    send(client, "# Rules\n- Zigzag schedules everywhere.\n", name="CLAUDE.md")
    waiting = client.get("/v1/bullets", params={"status": "pending"}).json()["items"]
    assert [item["text"] for item in waiting] == ["Zigzag schedules everywhere."]
    found = client.post("/v1/search", json={"query": "zigzag schedules", "threshold": 0, "top_k": 200}).json()
    assert waiting[0]["id"] not in [result["id"] for result in found["results"]]


@pytest.mark.parametrize(
    ("content", "query", "status", "reason"),
    [
        (b"", {}, 422, "The body is empty"),
        (b"\0\1\2", {}, 422, "binary"),
        (b"## s\n[str-00001] helpful=0 harmful=0 :: \xff\n", {}, 422, "not UTF-8"),
        (b'{"ace": {', {}, 422, "Was it cut short?"),
        (b"{}", {"format": "mem0"}, 422, "expected what mem0's get_all"),
        (b"x", {"format": "nonsense"}, 422, "format"),
        (b"x", {"name": "../../etc/passwd"}, 422, "name"),
        (b"x", {"name": "a/b"}, 422, "name"),
        (b"x", {"name": ".."}, 422, "name"),
    ],
)
def test_what_cannot_be_read_at_all_is_explained(
    client: TestClient, content: bytes, query: dict[str, str], status: int, reason: str
) -> None:
    answer = client.post("/v1/import", params=query, content=content)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert reason in answer.json()["detail"]
    assert "/tmp" not in answer.text


def test_a_file_may_be_larger_than_other_bodies_but_not_larger_than_its_own_limit(starter_settings: Settings) -> None:
    tight = starter_settings.model_copy(update={"max_body_bytes": 1000, "max_import_bytes": 5000})

    def parts(size: int) -> Iterator[bytes]:
        yield b"## s\n"
        for number in range(size):
            yield f"[str-{number:05d}] helpful=0 harmful=0 :: Line {number} of a long file.\n".encode()

    with TestClient(create_app(tight)) as client:
        assert client.post("/v1/import", content=parts(50)).json()["added"] == 50
        refused = client.post("/v1/import", content=parts(200))
        assert (refused.status_code, refused.json()["type"]) == (413, "urn:kernel-playbook:body-too-large")
        assert "PLAYBOOK_MAX_IMPORT_BYTES" in refused.json()["detail"]
        assert client.get("/v1/bullets/str-00199").status_code == 404


def test_the_markdown_export_is_for_reading_and_says_so_when_it_is_sent_back(client: TestClient) -> None:
    exported = client.get("/v1/export", params={"format": "markdown"})
    assert exported.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "\n## Kernels\n" in exported.text
    refused = client.post("/v1/import", params={"name": "playbook.md"}, content=exported.text)
    assert (refused.status_code, "for reading" in refused.json()["detail"]) == (422, True)


def test_the_jsonl_export_sent_back_changes_nothing(client: TestClient) -> None:
    exported = client.get("/v1/export").content
    answer = send(client, exported, name="corpus.jsonl")
    assert (answer["added"], answer["changed"], answer["facts"]) == (0, 0, 0)
