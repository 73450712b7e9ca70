"""What the service says of itself: stable unique operation ids, an example for each body that is really taken."""

import re
from collections import Counter
from typing import Any

from fastapi.testclient import TestClient

from app.api.described import EXAMPLES


def described(client: TestClient) -> list[tuple[str, str, dict[str, Any]]]:
    paths = client.get("/openapi.json").json()["paths"]
    return [(path, method, operation) for path, methods in paths.items() for method, operation in methods.items()]


def test_operation_ids_are_unique_words(client: TestClient) -> None:
    ids = Counter(operation["operationId"] for _, _, operation in described(client))
    assert [name for name, times in ids.items() if times > 1 or not re.fullmatch(r"[a-z_]+", name)] == []


def test_every_json_body_has_an_example_that_is_valid(client: TestClient) -> None:
    with_body = [
        (path, method, operation)
        for path, method, operation in described(client)
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    ]
    assert {operation["operationId"] for _, _, operation in with_body} == set(EXAMPLES)
    for path, method, operation in with_body:
        example = operation["requestBody"]["content"]["application/json"]["example"]
        filled = re.sub(r"\{\w+\}", "kpb-00013" if "bullets" in path else "no-such-thing", path)
        answer = client.request(method, filled, json=example)
        assert answer.status_code not in (400, 405, 500), (path, answer.text)
        assert "errors" not in answer.json(), (path, answer.text)


def test_every_error_answer_is_a_problem_document_with_its_types(client: TestClient) -> None:
    for path, method, operation in described(client):
        assert operation["tags"], path
        assert operation["description"], path
        for status, answer in operation["responses"].items():
            if int(status) >= 400 and path not in ("/readyz",):
                content = answer["content"]["application/problem+json"]
                assert content["x-problem-types"] or status in ("400", "408", "429"), (path, method, status)
