"""The policy `verified`: measurements on the asker's hardware correct claims, and say so."""

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

H200 = "NVIDIA H200"


def measured(settings: Settings, folder: Path, runs: dict[str, tuple[str, float | None]]) -> None:
    """Imports finished runs: source problem -> (verdict, speedup)."""
    database = Database(settings)
    from app.store import corpus

    with database.read() as session:
        kernels = {i.source_problem: i.id for i in corpus.items_since(session, -1) if i.kernel is not None}
    lines = [
        {
            "type": "run",
            "id": f"run-{problem}-{number}",
            "item_id": kernels[problem],
            "hardware": H200,
            "verdict": verdict,
            "speedup": speedup,
            "finished_at": f"2026-11-0{number + 1}T00:00:00Z",
        }
        for number, (problem, (verdict, speedup)) in enumerate(runs.items())
    ]
    file = folder / "runs.jsonl"
    file.write_text("\n".join(json.dumps({k: v for k, v in line.items() if v is not None}) for line in lines))
    report = load(database, HashingEmbedder(), [file])
    assert report.complete
    database.dispose()


def context(client: TestClient, **asked: Any) -> dict[str, Any]:
    answer = client.post("/v1/context", json={"policy": "verified", "reader": "claude-opus-4-8", **asked})
    assert answer.status_code == 200
    rendered: dict[str, Any] = answer.json()
    return rendered


def test_a_claim_that_measured_slower_is_left_out_with_the_measurement(
    seeded_settings: Settings, tmp_path: Path
) -> None:
    measured(seeded_settings, tmp_path, {"L1_078": ("verified_slower", 0.77)})
    with TestClient(create_app(seeded_settings)) as client:
        here = context(client, task={"problem_id": "L2_020"}, hardware=H200)
        elsewhere = context(client, task={"problem_id": "L2_020"}, hardware="another GPU")
    assert "2.29x" not in here["text"]
    assert f"measured 0.77x on {H200}, claimed 2.29x" in {entry["detail"] for entry in here["explanations"]}
    assert "2.29x" in elsewhere["text"]


def test_a_claim_that_measured_otherwise_is_corrected_in_the_text(seeded_settings: Settings, tmp_path: Path) -> None:
    measured(seeded_settings, tmp_path, {"L2_072": ("verified", 1.91)})
    with TestClient(create_app(seeded_settings)) as client:
        rendered = context(client, task={"problem_id": "L2_020"}, hardware=H200)
    assert f"[measured 1.91x on {H200}, claimed 1.68x; on ConvTranspose3d_BatchNorm_AvgPool_AvgPool" in rendered["text"]


def test_a_kernel_that_broke_is_left_out_there(seeded_settings: Settings, tmp_path: Path) -> None:
    measured(seeded_settings, tmp_path, {"L2_072": ("incorrect_value", None)})
    with TestClient(create_app(seeded_settings)) as client:
        rendered = context(client, task={"problem_id": "L2_020"}, hardware=H200)
        asked = {"task": {"problem_id": "L2_020"}, "hardware": H200, "top_k": 200, "threshold": 0, "explain": True}
        found = client.post("/v1/search", json=asked).json()
    assert "1.68x" not in rendered["text"]
    details = {entry["detail"] for entry in rendered["explanations"]}
    assert f"judged incorrect_value on {H200}, claimed 1.68x" in details
    learned_there = [result for result in found["results"] if result["source_problem"] == "L2_072"]
    runs = [result["verification"] for result in learned_there if result["kind"] == "kernel"]
    assert runs == [{"hardware": H200, "verdict": "incorrect_value", "speedup": None}]
    standing = {result["score_details"]["verification"] for result in learned_there}
    assert standing == {0.25, 1.0}, "kernel and recipe sink, the memories of that problem do not"


def test_damaged_and_repeated_items_never_show(seeded_settings: Settings) -> None:
    with TestClient(create_app(seeded_settings)) as client:
        rendered = context(client, task={"problem_id": "L2_020"})
        everything = context(client, task={"problem_id": "L2_020"}, policy="living")
    assert "'...'" in everything["text"]
    assert "'...'" not in rendered["text"]
    assert rendered["left_out"]["duplicate"] >= 4
    assert rendered["text"].count("Checker rule: assignment to attribute") == 1


def test_the_latest_run_counts(seeded_settings: Settings, tmp_path: Path) -> None:
    measured(seeded_settings, tmp_path, {"L2_072": ("verified", 1.91)})
    later = tmp_path / "later"
    later.mkdir()
    database = Database(seeded_settings)
    from app.store import corpus, facts

    with database.read() as session:
        run = facts.runs(session)[0]
    line = {
        "type": "run",
        "id": "later",
        "item_id": run.item_id,
        "hardware": H200,
        "verdict": "verified",
        "speedup": 2.5,
        "finished_at": "2026-11-20T00:00:00Z",
    }
    (later / "runs.jsonl").write_text(json.dumps(line))
    load(database, HashingEmbedder(), [later / "runs.jsonl"])
    with database.read() as session:
        assert corpus.facts(session).measurements[H200][run.item_id].speedup == pytest.approx(2.5)
    database.dispose()
    with TestClient(create_app(seeded_settings)) as client:
        assert "measured 2.50x" in context(client, task={"problem_id": "L2_020"}, hardware=H200)["text"]
