"""POST /v1/search: the right items first, honest scores, filters before the cut, and clear refusals."""

import json
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.conftest import SHARED


def search(client: TestClient, query: str | None = None, **fields: Any) -> dict[str, Any]:
    asked = {"query": query, **fields} if query is not None else fields
    answer = client.post("/v1/search", json=asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def dev_queries() -> list[dict[str, Any]]:
    file = SHARED / "eval" / "dev_queries.jsonl"
    if not file.exists():
        pytest.skip("the development queries are not beside this checkout")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_text_of_real_tasks_brings_items_of_the_same_family_first(seeded_client: TestClient) -> None:
    problems = {p["id"]: p for p in seeded_client.get("/v1/problems").json()["items"]}
    for query in dev_queries()[:5]:
        found = search(seeded_client, query["text"], top_k=5, explain=True, filters={"kind": {"ne": "bullet"}})
        families = [result["family"] for result in found["results"]]
        family = problems[query["id"]]["family"]
        assert families[:2] == [family, family]
        assert set(found["left_out"]) == {"threshold", "budget", "duplicate", "leakage"}
        for result in found["results"]:
            product = 1.0
            for factor in result["score_details"].values():
                product *= factor
            assert result["score"] == pytest.approx(product, abs=1e-12)
            assert 0 <= result["score"] <= 1


def test_results_are_best_first_and_at_least_at_the_threshold(client: TestClient) -> None:
    found = search(client, "fused conv2d, batch norm and relu", threshold=0.3, top_k=20)
    scores = [result["score"] for result in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert scores
    assert min(scores) >= 0.3
    assert found["left_out"]["threshold"] > 0


def test_an_off_topic_query_finds_nothing_at_the_default_threshold(client: TestClient) -> None:
    for query in ("a recipe for sourdough bread", "😀😀😀", "how do I file my taxes in Ohio?"):
        assert search(client, query)["results"] == []


def test_threshold_zero_filters_nothing(client: TestClient) -> None:
    found = search(client, "softmax over rows", threshold=0, top_k=200, diversify=False)
    assert found["left_out"]["threshold"] == 0
    assert len(found["results"]) == found["total_candidates"]


def test_filters_act_before_the_cut(client: TestClient) -> None:
    found = search(client, "softmax over rows", top_k=3, threshold=0, filters={"kind": {"eq": "recipe"}})
    assert [result["kind"] for result in found["results"]] == ["recipe"] * 3


def test_items_of_the_problem_under_test_are_left_out_unless_wanted(client: TestClient) -> None:
    task = {"problem_id": "L2_072"}
    excluded = search(client, task=task, top_k=50, threshold=0)
    wanted = search(client, task=task, top_k=50, threshold=0, exclude_source_problem=False)
    assert excluded["left_out"]["leakage"] > 0
    assert "L2_072" not in {result["source_problem"] for result in excluded["results"]}
    assert "L2_072" in {result["source_problem"] for result in wanted["results"]}


def test_a_token_budget_admits_whole_items_only(client: TestClient) -> None:
    whole = search(client, "matmul with bias and gelu", top_k=10)
    cut = search(client, "matmul with bias and gelu", top_k=10, token_budget=400)
    texts = {result["id"]: result["text"] for result in whole["results"]}
    assert cut["left_out"]["budget"] > 0
    assert cut["tokens"] <= 400
    assert all(texts[result["id"]] == result["text"] for result in cut["results"])


def test_damaged_items_are_never_ranked(seeded_client: TestClient) -> None:
    everything = search(seeded_client, "conv_transpose", threshold=0, top_k=200, diversify=False)
    assert everything["total_candidates"] == 230


def test_prose_note_and_module_of_one_task_are_understood_alike(client: TestClient) -> None:
    module = (
        "import torch.nn as nn\nclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.c = nn.ConvTranspose3d(3, 16, 3, stride=2)\n        self.n = nn.BatchNorm3d(16)\n"
        "        self.p = nn.AvgPool3d(2)\n    def forward(self, x):\n        return self.p(self.n(self.c(x)))\n"
    )
    by_note = search(client, "convT3d bn avgpool")
    by_code = search(client, task={"code": module})
    assert by_note["understood"]["operations"] == by_code["understood"]["operations"]
    assert by_code["understood"]["family"] == "conv_transpose"


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"query": ""}, 422, "blank"),
        ({"query": "  \n "}, 422, "blank"),
        ({"query": "a\x00b"}, 422, "NUL"),
        ({"query": "a" * 200_001}, 422, "200000"),
        ({}, 422, "either query or task"),
        ({"query": "x", "task": {"text": "y"}}, 422, "either query or task"),
        ({"task": {}}, 422, "needs problem_id"),
        ({"task": {"problem_id": "L9_999"}}, 422, "no problem 'L9_999'"),
        ({"query": "x", "top_k": 0}, 422, "greater than or equal to 1"),
        ({"query": "x", "top_k": 1_000_000}, 422, "less than or equal to 200"),
        ({"query": "x", "threshold": 2}, 422, "less than or equal to 1"),
        ({"query": "x", "token_budget": 0}, 422, "greater than or equal to 1"),
        ({"query": "x", "topk": 3}, 422, "Extra inputs"),
        ({"query": "x", "filters": {"colour": {"eq": 1}}}, 422, "no field 'colour'"),
        ({"query": ["x"]}, 422, "valid string"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_problem_that_says_why(
    client: TestClient, body: dict[str, Any], status: int, reason: str
) -> None:
    answer = client.post("/v1/search", json=body)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert reason in json.dumps(answer.json(), ensure_ascii=False)
    assert answer.headers["x-request-id"]


def test_lone_surrogates_and_malformed_json_are_refused(client: TestClient) -> None:
    headers = {"content-type": "application/json"}
    surrogate = client.post("/v1/search", content=rb'{"query": "\ud800"}', headers=headers)
    assert surrogate.status_code == 422
    assert "surrogate" in surrogate.json()["detail"]
    field = client.post("/v1/search", content=rb'{"query": "x", "\ud800": 1}', headers=headers)
    assert field.status_code == 422
    broken = client.post("/v1/search", content=b'{"query": "x"', headers=headers)
    assert (broken.status_code, broken.json()["title"]) == (400, "Malformed JSON")
    binary = client.post("/v1/search", content=b"\xff\xfe", headers=headers)
    assert binary.status_code == 400
    deep = client.post("/v1/search", content=b"[" * 100_000, headers=headers)
    assert deep.status_code in (400, 422)
