"""POST /v1/feedback: every vote counts once and exactly once; the tests carry the names of faults that users met."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

ITEM = "kpb-00013"


def say(client: TestClient, *items: tuple[str, str], key: str | None = None, **fields: Any) -> dict[str, Any]:
    body = {"items": [{"id": item, "signal": signal} for item, signal in items], **fields}
    answer = client.post("/v1/feedback", json=body, headers={"idempotency-key": key} if key else {})
    assert answer.status_code == 200, answer.text
    given: dict[str, Any] = answer.json()
    return given


def counters(client: TestClient, item_id: str = ITEM) -> tuple[int, int]:
    item = client.get(f"/v1/bullets/{item_id}").json()
    return item["helpful"], item["harmful"]


def test_success_is_answered_only_for_what_is_stored(client: TestClient) -> None:
    given = say(client, (ITEM, "helpful"), ("kpb-00014", "harmful"), ("kpb-00015", "neutral"), reader="m")
    assert given["applied"] == [
        {"id": ITEM, "helpful": 1, "harmful": 0},
        {"id": "kpb-00014", "helpful": 0, "harmful": 1},
        {"id": "kpb-00015", "helpful": 0, "harmful": 0},
    ]
    assert counters(client) == (1, 0)
    events = client.get("/v1/bullets/kpb-00015/history").json()["items"]
    assert [entry["type"] for entry in events] == ["revision", "counters"]


def test_ids_invented_by_a_model_are_listed_and_known_ones_counted(client: TestClient) -> None:
    given = say(client, ("str-99999", "helpful"), (ITEM, "helpful"), ("nonsense", "harmful"))
    assert given["unknown_ids"] == ["str-99999", "nonsense"]
    assert [entry["id"] for entry in given["applied"]] == [ITEM]
    assert counters(client) == (1, 0)


def test_the_same_id_twice_in_one_list_counts_once(client: TestClient) -> None:
    say(client, (ITEM, "helpful"), (ITEM, "helpful"))
    assert counters(client) == (1, 0)
    both = client.post(
        "/v1/feedback", json={"items": [{"id": ITEM, "signal": "helpful"}, {"id": ITEM, "signal": "harmful"}]}
    )
    assert both.status_code == 422
    assert counters(client) == (1, 0)


def test_a_replayed_key_counts_once_and_gets_the_same_answer(client: TestClient) -> None:
    first = say(client, (ITEM, "helpful"), ("str-99999", "helpful"), key="k-1", reader="m")
    again = say(client, (ITEM, "helpful"), ("str-99999", "helpful"), key="k-1", reader="m")
    assert again == {**first, "duplicate": True}
    assert counters(client) == (1, 0)


def test_a_key_that_comes_back_with_other_words_is_refused(client: TestClient) -> None:
    say(client, (ITEM, "helpful"), key="k-1")
    body = {"items": [{"id": ITEM, "signal": "harmful"}]}
    answer = client.post("/v1/feedback", json=body, headers={"idempotency-key": "k-1"})
    assert answer.status_code == 409
    assert counters(client) == (1, 0)


def test_replays_without_an_idempotency_key_count_once_for_one_context(client: TestClient) -> None:
    asked = {"task": {"text": "conv transpose and batch norm"}, "reader": "m", "policy": "search"}
    context = client.post("/v1/context", json=asked).json()
    shown = context["items"][0]
    first = say(client, (shown, "helpful"), reader="m", context_id=context["context_id"])
    again = say(client, (shown, "helpful"), reader="m", context_id=context["context_id"])
    assert (first["duplicate"], again["duplicate"], first["notes"]) == (False, True, [])
    other = say(client, (shown, "helpful"), reader="another", context_id=context["context_id"])
    assert not other["duplicate"]
    assert counters(client, shown) == (2, 0)


def test_feedback_on_what_was_not_shown_is_counted_and_remarked(client: TestClient) -> None:
    found = client.post("/v1/search", json={"query": "cumsum", "top_k": 1}).json()
    given = say(client, (ITEM, "helpful"), retrieval_id=found["retrieval_id"])
    assert any("was not in" in note for note in given["notes"])
    late = say(client, (ITEM, "helpful"), context_id="ctx-of-long-ago")
    assert any("not known" in note for note in late["notes"])
    assert counters(client) == (2, 0)


def test_what_was_shown_can_be_read_again(client: TestClient) -> None:
    asked = {"task": {"text": "softmax"}, "reader": "m", "policy": "search"}
    context = client.post("/v1/context", json=asked).json()
    record = client.get(f"/v1/contexts/{context['context_id']}").json()
    assert (record["items"], record["reader"], record["policy"]) == (context["items"], "m", "search")
    assert record["task"]["operations"] == ["softmax"]
    assert client.get("/v1/contexts/ctx-none").status_code == 404


def test_cited_ids_are_found_in_a_whole_answer(client: TestClient) -> None:
    answer = "I followed [kpb-00013] and, in part, KPB-00014; str-99999 does not exist. See kpb-00013 again."
    body = {"reader": "m", "answer": answer, "items": [{"id": "kpb-00014", "signal": "harmful"}]}
    given = client.post("/v1/feedback", json=body).json()
    assert {entry["id"]: (entry["helpful"], entry["harmful"]) for entry in given["applied"]} == {
        "kpb-00014": (0, 1),
        "kpb-00013": (1, 0),
    }
    assert given["unknown_ids"] == ["str-99999"]


def test_counters_by_reader_add_up(client: TestClient) -> None:
    for reader, signal in (("a", "helpful"), ("a", "helpful"), ("b", "harmful")):
        say(client, (ITEM, signal), reader=reader)
    say(client, (ITEM, "helpful"))
    assert client.get(f"/v1/bullets/{ITEM}/counters").json() == {
        "helpful": 3,
        "harmful": 1,
        "by_reader": {"a": {"helpful": 2, "harmful": 0}, "b": {"helpful": 0, "harmful": 1}},
    }


def test_late_feedback_on_a_merged_item_counts_for_the_one_that_lives_on(client: TestClient) -> None:
    client.post(
        "/v1/operations", json={"operations": [{"op": "MERGE", "ids": [ITEM, "kpb-00014"], "into": "kpb-00014"}]}
    )
    given = say(client, (ITEM, "helpful"))
    assert given["applied"] == [{"id": "kpb-00014", "helpful": 1, "harmful": 0}]
    assert any("merged into kpb-00014" in note for note in given["notes"])


def test_a_vote_can_be_taken_back_once(client: TestClient) -> None:
    say(client, (ITEM, "helpful"), reader="m")
    event = client.get(f"/v1/bullets/{ITEM}/history").json()["items"][-1]
    path = f"/v1/bullets/{ITEM}/revert"
    assert client.post(path, json={"event": event["uid"], "note": "a mistake"}).json()["helpful"] == 0
    assert client.post(path, json={"event": event["uid"]}).status_code == 409
    assert client.post(path, json={"event": "no-such-event"}).status_code == 404
    assert counters(client) == (0, 0)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"items": []},
        {"items": [{"id": "x", "signal": "great"}]},
        {"items": [{"id": "", "signal": "helpful"}]},
        {"items": [{"id": "x", "signal": "helpful"}], "context_id": "a", "retrieval_id": "b"},
        {"items": [{"id": "x", "signal": "helpful"}], "outcome": {"speedup": -1}},
        {"items": [{"id": "x", "signal": "helpful", "weight": 5}]},
        {"answer": "cites nothing at all"},
    ],
)
def test_feedback_that_makes_no_sense_is_refused(client: TestClient, body: dict[str, Any]) -> None:
    assert client.post("/v1/feedback", json=body).status_code == 422
