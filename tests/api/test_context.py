"""POST /v1/context: the documents' own texts for known problems, and something sensible for everything else."""

from collections import Counter
from typing import Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.memory.policies import POLICIES

WORDS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1)
READERS = ["claude-opus-5-5", "claude-opus-4-8", "a-model-never-seen"]


def context(client: TestClient, **asked: Any) -> dict[str, Any]:
    answer = client.post("/v1/context", json=asked)
    assert answer.status_code == 200, answer.text
    rendered: dict[str, Any] = answer.json()
    return rendered


@pytest.mark.parametrize("policy", ["ace", "show_all", "none", "mem0", "fg_target", "living:rC"])
def test_ten_problems_equal_the_documents_over_http(
    seeded_client: TestClient, seed_documents: list[dict[str, Any]], policy: str
) -> None:
    document = next(document for document in seed_documents if policy in document)
    for reader, texts in document[policy].items():
        for problem, text in list(texts.items())[:10]:
            plain = seeded_client.post(
                "/v1/context",
                json={"task": {"problem_id": problem}, "reader": reader, "policy": policy},
                headers={"accept": "text/plain"},
            )
            assert plain.content == text.encode()
            assert plain.headers["x-context-id"]


@pytest.mark.parametrize("policy", list(POLICIES))
def test_every_policy_answers_for_prose_code_and_a_reader_never_seen(seeded_client: TestClient, policy: str) -> None:
    for task in (
        {"text": "Fuse a 3D transposed convolution with batch norm and average pooling."},
        {"code": "import torch.nn as nn\nclass Model(nn.Module):\n  def forward(self, x):\n    return x.softmax(-1)\n"},
        {"text": "nothing a kernel could be written for"},
    ):
        rendered = context(seeded_client, task=task, reader="a-model-never-seen", policy=policy)
        assert rendered["policy"] == policy
        assert rendered["tokens"] == -(-len(rendered["text"]) // 4)


def test_an_unknown_task_of_a_known_chain_selects_what_the_known_problem_selects(seeded_client: TestClient) -> None:
    known = context(seeded_client, task={"problem_id": "L2_077"}, reader="claude-opus-5-5", policy="show_all")
    text = "ConvTranspose3d, then scaling by a constant, BatchNorm3d and global average pooling"
    prose = context(seeded_client, task={"text": text}, reader="claude-opus-5-5", policy="show_all")
    assert [i for i in prose["items"] if i.startswith(("les", "pit"))] == [
        i for i in known["items"] if i.startswith(("les", "pit"))
    ]
    assert {i for i in prose["items"] if i.startswith("rec")} == {i for i in known["items"] if i.startswith("rec")}


def test_a_reader_never_seen_is_told_that_estimates_come_from_others(seeded_client: TestClient) -> None:
    rendered = context(seeded_client, task={"problem_id": "L2_020"}, reader="nobody", policy="reader_relative")
    assert "est." in rendered["text"]
    assert any("no solo baselines" in note for note in rendered["notes"])


def test_mem0_ranks_freshly_for_a_task_without_a_recorded_ranking(seeded_client: TestClient) -> None:
    rendered = context(seeded_client, task={"text": "LayerNorm over the last axis"}, reader="r", policy="mem0")
    assert rendered["items"]
    assert all(item.startswith("mem-") for item in rendered["items"])


def test_ace_with_a_budget_keeps_the_best_ranked_bullets_in_playbook_order(seeded_client: TestClient) -> None:
    task = {"text": "ConvTranspose3d, batch norm, average pool"}
    rendered = context(seeded_client, task=task, reader="r", policy="ace", token_budget=4000)
    best = seeded_client.post(
        "/v1/search", json={"task": task, "top_k": 3, "filters": {"kind": {"eq": "bullet"}}, "diversify": False}
    ).json()["results"]
    assert best[0]["id"] in rendered["items"]
    assert rendered["items"] == sorted(rendered["items"])
    assert rendered["left_out"]["budget"] == 76 - len(rendered["items"])
    assert rendered["tokens"] <= 4000


def test_kernels_go_before_recipes_before_pitfalls(seeded_client: TestClient) -> None:
    asked: dict[str, Any] = {"task": {"problem_id": "L2_020"}, "reader": "r", "policy": "show_all"}
    whole = Counter(item[:3] for item in context(seeded_client, **asked)["items"])
    dropped_first = ("ker", "rec", "pit", "les")
    for budget in range(4000, 100, -150):
        rendered = context(seeded_client, **asked, token_budget=budget)
        assert rendered["tokens"] <= budget
        left = Counter(item[:3] for item in rendered["items"])
        partly = [kind for kind in dropped_first if 0 < left[kind] < whole[kind]]
        assert len(partly) <= 1
        touched = [kind for kind in dropped_first if left[kind] < whole[kind]]
        assert touched == list(dropped_first[: len(touched)])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_context_exceeds_its_budget_holds_the_excluded_problem_or_ends_inside_an_item(
    seeded_client: TestClient, data: st.DataObject
) -> None:
    problems = [p["id"] for p in seeded_client.get("/v1/problems").json()["items"]]
    problem = data.draw(st.sampled_from(problems))
    reader, policy = data.draw(st.sampled_from(READERS)), data.draw(st.sampled_from(list(POLICIES)))
    budget = data.draw(st.one_of(st.none(), st.integers(1, 12_000)))
    words = data.draw(
        st.one_of(st.none(), st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1))
    )
    task = {"problem_id": problem, **({"text": words} if words and words.strip() else {})}
    asked = {"task": task, "reader": reader, "policy": policy, "token_budget": budget, "exclude_source_problem": True}
    answer = seeded_client.post("/v1/context", json=asked)
    if answer.status_code == 422:
        assert answer.json()["title"] == "Token budget too small"
        return
    rendered = answer.json()
    assert budget is None or rendered["tokens"] <= budget
    for item_id in rendered["items"]:
        item = seeded_client.get(f"/v1/bullets/{item_id}").json()
        assert item["source_problem"] != problem
        content = item["kernel"]["source"] if item["kernel"] else item["text"]
        figure_free = policy == "no_numbers"
        assert figure_free or content in rendered["text"]


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"task": {"problem_id": "L2_020"}, "reader": "r", "policy": "best"}, "known"),
        ({"task": {"problem_id": "L9_999"}, "reader": "r", "policy": "living"}, "L9_999"),
        ({"task": {"problem_id": "L2_020"}, "reader": " ", "policy": "living"}, "blank"),
        ({"task": {"problem_id": "L2_020"}, "policy": "living"}, "reader"),
        ({"task": {"problem_id": "L2_020"}, "reader": "r", "policy": "living", "token_budget": 5}, "head alone"),
        ({"task": {"problem_id": "L2_020"}, "reader": "r", "policy": "ace", "token_budget": 5}, "head alone"),
        ({"task": {"problem_id": "L2_020"}, "reader": "r", "policy": "prior", "token_budget": 5}, "head alone"),
    ],
)
def test_wishes_that_cannot_be_met_are_refused_with_the_reason(
    seeded_client: TestClient, asked: dict[str, Any], reason: str
) -> None:
    answer = seeded_client.post("/v1/context", json=asked)
    assert answer.status_code == 422
    assert reason in answer.text
