"""/v1/kernels: listing with measurements, adding, reading, runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.retrieval.hashing import HashingEmbedder
from app.services.load import load
from app.settings import Settings
from app.store.database import Database

SOURCE = (
    "import torch, triton\nimport torch.nn as nn\nimport triton.language as tl\n\n\n"
    "@triton.jit\ndef double(x, out, BLOCK: tl.constexpr):\n"
    "    place = tl.arange(0, BLOCK)\n    tl.store(out + place, 2 * tl.load(x + place))\n\n\n"
    "class ModelNew(nn.Module):\n    def forward(self, x):\n"
    "        out = torch.empty_like(x)\n        double[(1,)](x, out, BLOCK=8)\n        return out\n"
)
OFFER = {"source_problem": "L2_072", "source": SOURCE, "text": "Doubles in one pass.", "claimed_speedup": 1.5}


def added(client: TestClient, **changes: Any) -> dict[str, Any]:
    answer = client.post("/v1/kernels", json={**OFFER, **changes})
    assert answer.status_code == 201, answer.text
    kernel: dict[str, Any] = answer.json()
    return kernel


def with_runs(settings: Settings, folder: Path, item_id: str, *runs: dict[str, Any]) -> None:
    """Imports runs of a kernel, one a day."""
    lines = [
        {"type": "run", "id": f"run-{day}", "item_id": item_id, "finished_at": f"2026-11-{day:02d}T00:00:00Z", **run}
        for day, run in enumerate(runs, start=1)
    ]
    file = folder / "runs.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    database = Database(settings)
    assert load(database, HashingEmbedder(), [file]).complete
    database.dispose()


def test_an_added_kernel_takes_family_language_and_entry_point_from_problem_and_source(client: TestClient) -> None:
    kernel = added(client)
    assert (kernel["kind"], kernel["status"], kernel["family"]) == ("kernel", "active", "conv_transpose")
    assert (kernel["kernel"]["language"], kernel["kernel"]["entry_point"]) == ("triton", "ModelNew")
    assert (kernel["warnings"], kernel["measured"]) == ([], [])
    assert client.get(f"/v1/kernels/{kernel['id']}").json() == kernel
    history = client.get(f"/v1/bullets/{kernel['id']}/history").json()["items"]
    assert [entry["reason"] for entry in history] == ["create"]


def test_the_same_code_for_the_same_problem_is_one_kernel_however_often_it_is_sent(client: TestClient) -> None:
    kernel = added(client)
    again = client.post("/v1/kernels", json={**OFFER, "text": "In other words.", "claimed_speedup": 9})
    assert again.status_code == 200
    assert again.json() == kernel
    elsewhere = client.post("/v1/kernels", json={**OFFER, "source_problem": "L2_020"})
    assert (elsewhere.status_code, elsewhere.json()["id"]) == (409, kernel["id"])
    client.delete(f"/v1/bullets/{kernel['id']}")
    assert added(client)["id"] != kernel["id"]


def test_what_an_agent_proposes_waits_as_pending_and_is_in_no_search(client: TestClient) -> None:
    kernel = added(client, proposed_by="agent-7")
    assert (kernel["status"], kernel["provenance"]["proposed_by"]) == ("pending", "agent-7")
    found = client.post("/v1/search", json={"query": "doubles in one pass", "threshold": 0, "top_k": 200}).json()
    assert kernel["id"] not in [result["id"] for result in found["results"]]
    waiting = client.get("/v1/kernels", params={"status": "pending"}).json()
    assert [line["id"] for line in waiting["items"]] == [kernel["id"]]


@pytest.mark.parametrize(
    ("source", "warning"),
    [
        ("def forward(:\n", "would be refused: SyntaxError"),
        (SOURCE + "\nclass Model: pass\n", "would be refused: a class named Model"),
        (SOURCE + "\nimport ctypes\n", "flagged: import:ctypes"),
        ("class ModelNew:\n    pass\n", "declares no Triton or CUDA kernel"),
    ],
)
def test_what_the_evaluator_would_refuse_is_a_warning_and_nothing_is_executed(
    client: TestClient, source: str, warning: str
) -> None:
    kernel = added(client, source=source)
    assert any(found.startswith(warning) for found in kernel["warnings"]), kernel["warnings"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"source_problem": "L9_999"}, "L9_999"),
        ({"language": "cuda"}, "the source says triton"),
        ({"entry_point": "Fast"}, "the source says ModelNew"),
        ({"source": SOURCE + "#" * 1_048_576}, "body.source"),
        ({"source": "  \n"}, "blank"),
        ({"source": SOURCE + "\0"}, "NUL"),
        ({"text": ""}, "body.text"),
        ({"claimed_speedup": -1}, "body.claimed_speedup"),
        ({"kernel_source": SOURCE}, "body.kernel_source"),
    ],
)
def test_an_offer_that_makes_no_sense_is_refused_with_its_reason(
    client: TestClient, changes: dict[str, Any], reason: str
) -> None:
    before = client.get("/v1/kernels").json()["total"]
    answer = client.post("/v1/kernels", json={**OFFER, **changes})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert reason in answer.json()["detail"]
    assert client.get("/v1/kernels").json()["total"] == before


def test_lists_are_whole_and_tell_what_was_claimed_and_measured(starter_settings: Settings, tmp_path: Path) -> None:
    with TestClient(create_app(starter_settings)) as client:
        kernel_id = client.get("/v1/kernels", params={"limit": 1}).json()["items"][0]["id"]
        with_runs(
            starter_settings,
            tmp_path,
            kernel_id,
            {"hardware": "NVIDIA H200", "verdict": "verified", "speedup": 1.4},
            {"hardware": "NVIDIA H200", "verdict": "verified_slower", "speedup": 0.9},
            {"hardware": "NVIDIA H200", "verdict": "infra_error"},
            {"hardware": "NVIDIA A100", "verdict": "incorrect_value"},
        )
        seen: list[dict[str, Any]] = []
        cursor: str | None = ""
        while cursor is not None:
            params = {"limit": 5, **({"cursor": cursor} if cursor else {})}
            part = client.get("/v1/kernels", params=params).json()
            seen, cursor = seen + part["items"], part["next_cursor"]
        one = client.get(f"/v1/kernels/{kernel_id}").json()
        by_problem = client.get("/v1/kernels", params={"source_problem": seen[3]["source_problem"]}).json()
        cuda = client.get("/v1/kernels", params={"language": "cuda"}).json()
    assert len({line["id"] for line in seen}) == len(seen) == part["total"] == 14
    measured = {(run["hardware"], run["verdict"], run["speedup"]) for run in seen[0]["measured"]}
    assert measured == {("NVIDIA H200", "verified_slower", 0.9), ("NVIDIA A100", "incorrect_value", None)}
    assert one["measured"] == seen[0]["measured"]
    assert [line["id"] for line in by_problem["items"]] == [seen[3]["id"]]
    assert {line["language"] for line in cuda["items"]} == {"cuda"}
    assert cuda["total"] == len(cuda["items"])


def test_runs_come_newest_first_in_parts(any_settings: Settings, tmp_path: Path) -> None:
    with TestClient(create_app(any_settings)) as client:
        kernel_id = added(client)["id"]
        run = {"hardware": "NVIDIA H200", "verdict": "verified", "speedup": 1.4, "figures": {"detail": "as kept"}}
        with_runs(any_settings, tmp_path, kernel_id, *[run] * 4)
        path = f"/v1/kernels/{kernel_id}/runs"
        first = client.get(path, params={"limit": 3}).json()
        rest = client.get(path, params={"limit": 3, "cursor": first["next_cursor"]}).json()
        lost = client.get(path, params={"cursor": "run-99"})
    assert [entry["id"] for entry in first["items"] + rest["items"]] == ["run-4", "run-3", "run-2", "run-1"]
    assert (first["total"], rest["next_cursor"], lost.status_code) == (4, None, 422)
    assert (first["items"][0]["detail"], first["items"][0]["speedup"]) == ("as kept", 1.4)


@pytest.mark.parametrize("path", ["/v1/kernels/ker-99999", "/v1/kernels/kpb-00001", "/v1/kernels/ker-99999/runs"])
def test_an_id_that_is_no_kernel_is_404(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "There is no kernel" in answer.json()["detail"]
