"""Every route asks for a key and for a scope. A route that is not in the table below fails: none can be forgotten."""

import re

import pytest
from fastapi.testclient import TestClient

from app.api.guard import OPEN
from app.vocabulary import Scope
from tests.security.conftest import Keys

SCOPES = {
    "search": {Scope.READ},
    "render_context": {Scope.READ},
    "list_policies": {Scope.READ},
    "get_vocabulary": {Scope.READ},
    "export": {Scope.READ},
    "list_items": {Scope.READ},
    "get_item": {Scope.READ},
    "get_history": {Scope.READ},
    "get_counters": {Scope.READ},
    "get_context_record": {Scope.READ},
    "list_kernels": {Scope.READ},
    "get_kernel": {Scope.READ},
    "list_kernel_runs": {Scope.READ},
    "add_kernel": {Scope.CONTRIBUTE, Scope.CURATE},
    "list_problems": {Scope.READ},
    "list_readers": {Scope.READ},
    "get_baselines": {Scope.READ},
    "list_findings": {Scope.READ},
    "list_duplicates": {Scope.READ},
    "list_conflicts": {Scope.READ},
    "give_feedback": {Scope.FEEDBACK},
    "import_file": {Scope.CURATE},
    "create_item": {Scope.CONTRIBUTE, Scope.CURATE},
    "edit_item": {Scope.CURATE},
    "retire_item": {Scope.CURATE},
    "revert_item": {Scope.CURATE},
    "apply_operations": {Scope.CURATE},
    "undo_operations": {Scope.CURATE},
    "refresh_findings": {Scope.CURATE},
    "decide_finding": {Scope.CURATE},
    "put_reader": {Scope.CURATE},
    "put_baselines": {Scope.CURATE},
    "verify_kernel": {Scope.VERIFY},
    "list_runs": {Scope.READ},
    "get_run": {Scope.READ},
    "list_nights": {Scope.READ},
    "get_night": {Scope.READ},
    "get_night_report": {Scope.READ},
    "list_keys": {Scope.ADMIN},
    "create_key": {Scope.ADMIN},
    "revoke_key": {Scope.ADMIN},
    "list_audit": {Scope.ADMIN},
    "metrics": {Scope.READ},
}
"""operation_id -> scopes of which one is enough; admin always is."""


def operations(client: TestClient) -> list[tuple[str, str, str]]:
    """(method, path with its parameters filled in, operation id) of every route."""
    described = client.get("/openapi.json").json()["paths"]
    return [
        (method.upper(), re.sub(r"\{\w+\}", "x", path), operation["operationId"])
        for path, methods in described.items()
        for method, operation in methods.items()
        if path not in OPEN
    ]


def test_every_route_names_its_scope(guarded: TestClient) -> None:
    routes = {operation for _, _, operation in operations(guarded)}
    assert routes - SCOPES.keys() == set(), "say in this table which scope a new route needs"
    assert SCOPES.keys() - routes == set()


def test_every_route_answers_401_without_a_key(guarded: TestClient) -> None:
    for method, path, _ in operations(guarded):
        for headers in ({}, {"x-api-key": "kpb_wrong"}, {"authorization": f"Bearer kpb_{'0' * 12}_{'a' * 43}"}):
            answer = guarded.request(method, path, headers=headers, content=b"{not json")
            assert answer.status_code == 401, (method, path)
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.headers["www-authenticate"].startswith("Bearer")


def test_a_path_that_no_route_has_is_behind_the_door_as_well(guarded: TestClient) -> None:
    for path in ("/", "/v1", "/v1/nothing", "/V1/search", "//v1/search", "/healthz/", "/docs/../v1/bullets", "/adminx"):
        assert guarded.get(path, follow_redirects=False).status_code == 401, path


@pytest.mark.parametrize("scope", list(Scope))
def test_every_route_answers_403_with_the_wrong_scope(guarded: TestClient, keys: Keys, scope: Scope) -> None:
    headers = keys(scope)
    for method, path, operation in operations(guarded):
        answer = guarded.request(method, path, headers=headers)
        if scope is Scope.ADMIN or scope in SCOPES[operation]:
            assert answer.status_code not in (401, 403), (method, path)
        else:
            assert answer.status_code == 403, (method, path)
            assert answer.json()["scopes"] == sorted(SCOPES[operation], key=list(Scope).index)


def test_what_tells_whether_the_service_lives_is_open(guarded: TestClient) -> None:
    for path in ("/healthz", "/readyz", "/openapi.json", "/docs"):
        assert guarded.get(path).status_code == 200


def test_the_documentation_page_loads_nothing_from_outside(guarded: TestClient) -> None:
    page = guarded.get("/docs").text
    loaded = re.findall('(?:src|href)="([^"]+)"', page)
    assert len(loaded) >= 3
    for path in loaded:
        assert path.startswith("/docs/"), path
        assert guarded.get(path).status_code == 200
    assert "http://" not in page and "https://" not in page


def test_openapi_says_which_header_carries_the_key(guarded: TestClient) -> None:
    described = guarded.get("/openapi.json").json()
    schemes = described["components"]["securitySchemes"]
    assert schemes["key"]["name"] == "X-API-Key"
    search = described["paths"]["/v1/search"]["post"]
    assert search["security"] == [{"key": []}]
    assert {"401", "403"} <= search["responses"].keys()
