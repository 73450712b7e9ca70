"""A reader's own votes move what it finds, and nobody else's ranking by more than their share of all votes."""

from typing import Any

from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings

QUESTION = {"query": "softmax over rows, one row per block", "explain": True, "threshold": 0, "diversify": False}


def _found(client: TestClient, reader: str | None) -> dict[str, dict[str, Any]]:
    answer = client.post("/v1/search", json={**QUESTION, "top_k": 200, "reader": reader}).json()
    return {one["id"]: one for one in answer["results"]}


def _vote(client: TestClient, reader: str, item_id: str, signal: str, times: int) -> None:
    for _ in range(times):
        body = {"items": [{"id": item_id, "signal": signal}], "reader": reader}
        assert client.post("/v1/feedback", json=body).status_code in (200, 201)


def test_an_item_that_harmed_a_reader_sinks_for_it_and_not_for_another(client: TestClient) -> None:
    before = _found(client, "ada")
    best = list(before)[5]
    assert before[best]["score_details"]["reader"] == 1.0
    _vote(client, "ada", best, "harmful", 4)
    _vote(client, "eve", best, "helpful", 4)
    ada, eve, nobody = _found(client, "ada"), _found(client, "eve"), _found(client, None)
    assert ada[best]["score_details"]["reader"] < 0.85
    assert list(ada).index(best) > list(nobody).index(best)
    assert eve[best]["score_details"]["reader"] == 1.0 == nobody[best]["score_details"]["reader"]
    assert eve[best]["score"] > nobody[best]["score"] > ada[best]["score"]
    others = [item_id for item_id in before if item_id != best]
    assert all(ada[item_id]["score"] == before[item_id]["score"] for item_id in others)


def test_the_parts_still_multiply_to_the_score(client: TestClient) -> None:
    best = next(iter(_found(client, None)))
    _vote(client, "ada", best, "harmful", 2)
    for one in _found(client, "ada").values():
        product = 1.0
        for part in one["score_details"].values():
            assert 0 <= part <= 1
            product *= part
        assert abs(product - one["score"]) < 1e-12


def test_votes_of_readers_survive_a_restart_and_follow_a_merge_and_its_undo(starter_settings: Settings) -> None:
    with TestClient(create_app(starter_settings)) as client:
        first, second = list(_found(client, None))[:2]
        kinds = {one["id"]: one["kind"] for one in _found(client, None).values()}
        second = next(item_id for item_id, kind in kinds.items() if item_id != first and kind == kinds[first])
        _vote(client, "ada", second, "harmful", 4)
        told = _found(client, "ada")[second]["score_details"]["reader"]
        merge = {"operations": [{"op": "MERGE", "ids": [first, second], "into": first}]}
        answer = client.post("/v1/operations", json=merge)
        assert answer.status_code == 200, answer.text
        assert _found(client, "ada")[first]["score_details"]["reader"] < 0.9
        batch = answer.json()["batch_id"]
        assert client.post(f"/v1/operations/{batch}/revert").status_code == 200
        assert _found(client, "ada")[first]["score_details"]["reader"] == 1.0
    with TestClient(create_app(starter_settings)) as client:
        assert _found(client, "ada")[second]["score_details"]["reader"] == told
