"""Every operation of the OpenAPI document, with requests made up from it: no server error, nothing undocumented."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.main import create_app
from app.settings import Settings
from app.vocabulary import Scope
from tests.security.conftest import Keys

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES = 8
"""Requests an operation; `make soak` puts the service under load for longer."""


@pytest.fixture
def running(guarded_settings: Settings) -> Iterator[TestClient]:
    """The service with no limit to the number of requests, which would end the test early."""
    unlimited = guarded_settings.model_copy(update={"rate_limit": 0, "rate_limit_writes": 0})
    with TestClient(create_app(unlimited), raise_server_exceptions=False) as client:
        yield client


def try_every_operation(client: TestClient, headers: dict[str, str], examples: int) -> int:
    """Sends made-up requests to every operation and checks each answer against the document; the number of requests."""
    schema = schemathesis.openapi.from_asgi("/openapi.json", client.app)
    sent = 0
    for found in schema.get_all_operations():
        operation = found.ok()

        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def tried(case: Any) -> None:
            nonlocal sent
            sent += 1
            case.call_and_validate(checks=CHECKS, headers=headers)

        tried()
    return sent


def test_every_operation_keeps_to_its_document_with_an_admin_key(running: TestClient, keys: Keys) -> None:
    assert try_every_operation(running, keys(Scope.ADMIN), EXAMPLES) > 200


def test_every_operation_keeps_to_its_document_without_a_key(running: TestClient) -> None:
    assert try_every_operation(running, {}, 2) > 40


def test_every_operation_keeps_to_its_document_with_a_key_of_another_scope(running: TestClient, keys: Keys) -> None:
    assert try_every_operation(running, keys(Scope.VERIFY), 2) > 40
