"""Readers and baselines: averages are derived, gates use them at once, nonsense is refused whole."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

CSV = {"content-type": "text/csv"}


def test_baselines_from_csv_give_averages_by_family_and_level(client: TestClient) -> None:
    body = "problem,speedup,runs\nL2_001,1.5,3\nL2_001,failed,1\nL2_004,25,1\nL1_040,0.9,2\n"
    found = client.put("/v1/readers/new-model/baselines", content=body, headers=CSV).json()
    assert {entry["problem"]: (entry["mean"], entry["runs"]) for entry in found["baselines"]} == {
        "L2_001": (1.125, 4),  # three runs at 1.5 and one that failed
        "L2_004": (10.0, 1),  # capped
        "L1_040": (0.9, 2),
    }
    assert {(a["family"], a["level"]): a["mean"] for a in found["averages"]} == {("conv", 2): 5.5625, ("norm", 1): 0.9}
    assert client.get("/v1/readers/new-model/baselines").json() == found
    assert "new-model" in {reader["name"] for reader in client.get("/v1/readers").json()["items"]}


def test_baselines_from_json_are_replaced_by_newer_ones(client: TestClient) -> None:
    for speedup in (1.0, 2.0):
        client.put(
            "/v1/readers/m/baselines", json={"baselines": [{"problem": "L2_001", "speedup": speedup, "runs": 2}]}
        )
    assert [b["mean"] for b in client.get("/v1/readers/m/baselines").json()["baselines"]] == [2.0]


def test_a_display_name_is_set_and_kept(client: TestClient) -> None:
    assert client.put("/v1/readers/m", json={"display_name": "Model M"}).json()["display_name"] == "Model M"
    assert client.put("/v1/readers/m", json={}).json()["display_name"] == "Model M"


def test_new_baselines_move_the_gate_at_once(seeded_client: TestClient) -> None:
    asked = {"task": {"problem_id": "L2_020"}, "reader": "fresh", "policy": "frontier_gated"}
    estimated = seeded_client.post("/v1/context", json=asked).json()
    body = {"baselines": [{"problem": f"L2_{n:03d}", "speedup": 0.01} for n in (3, 15, 72, 74, 78, 89)]}
    seeded_client.put("/v1/readers/fresh/baselines", json=body)
    weak = seeded_client.post("/v1/context", json=asked).json()
    assert len([i for i in weak["items"] if i.startswith("rec")]) > len(
        [i for i in estimated["items"] if i.startswith("rec")]
    )
    assert "you alone: 0.01x" in weak["text"]
    assert weak["notes"] == []


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("problem,speedup\nL9_999,1.0\n", "L9_999"),
        ("problem,speedup\nL2_001,-1\n", "line 2"),
        ("problem,speedup\nL2_001,1.0\nL2_004,NaN\n", "line 3"),
        ("problem,speedup\nL2_001,inf\n", "finite"),
        ("problem,speedup,runs\nL2_001,1.0,0\n", "runs is 0"),
        ("problem,speedup,runs\nL2_001,fast,1\n", "not a number"),
        ("task,speedup\nL2_001,1.0\n", "columns"),
        ("problem,speedup\n", "no rows"),
        ("", "columns"),
    ],
)
def test_rows_that_make_no_sense_are_refused_and_none_is_taken(client: TestClient, rows: str, reason: str) -> None:
    answer = client.put("/v1/readers/m/baselines", content=rows, headers=CSV)
    assert answer.status_code == 422
    assert reason in answer.text
    assert client.get("/v1/readers/m/baselines").json()["baselines"] == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"baselines": []},
        {"baselines": [{"problem": "L2_001"}]},
        {"baselines": [{"problem": "L2_001", "speedup": "x"}]},
    ],
)
def test_json_that_makes_no_sense_is_refused(client: TestClient, body: dict[str, Any]) -> None:
    assert client.put("/v1/readers/m/baselines", json=body).status_code == 422
