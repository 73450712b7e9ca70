"""What every answer has in common, health, and a service that stays up."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.errors import WrongEmbedder
from app.main import create_app
from app.settings import Settings
from app.store import corpus
from app.store.database import Database


def test_health_and_readiness(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    ready = client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["ready"]
    assert "0 without a vector" in ready.json()["checks"]["index"]


def test_readiness_tells_a_database_of_another_level(client: TestClient, starter_settings: Settings) -> None:
    from sqlalchemy import text

    database = Database(starter_settings)
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "playbook migrate" in answer.json()["checks"]["database"]


def test_every_response_carries_a_request_id(client: TestClient) -> None:
    assert client.get("/healthz", headers={"x-request-id": "mine-1"}).headers["x-request-id"] == "mine-1"
    assert len(client.get("/healthz", headers={"x-request-id": "a b\n"}).headers["x-request-id"]) == 32
    assert client.get("/nowhere").headers["x-request-id"]


def test_errors_of_the_framework_are_problems_too(client: TestClient) -> None:
    missing = client.get("/nowhere")
    assert (missing.status_code, missing.headers["content-type"]) == (404, "application/problem+json")
    wrong = client.put("/v1/search")
    assert (wrong.status_code, wrong.headers["content-type"]) == (405, "application/problem+json")
    assert wrong.headers["allow"] == "POST"


def test_a_body_over_the_limit_is_refused_whatever_it_declares(starter_settings: Settings) -> None:
    small = starter_settings.model_copy(update={"max_body_bytes": 1000})
    with TestClient(create_app(small)) as client:
        declared = client.post("/v1/search", json={"query": "x" * 2000})
        streamed = client.post("/v1/search", content=iter([b"x" * 600, b"y" * 600]))
        fits = client.post("/v1/search", json={"query": "softmax"})
    assert (declared.status_code, streamed.status_code, fits.status_code) == (413, 413, 200)


def test_an_unexpected_fault_tells_nothing_of_the_inside(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.api import health

    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(health, "readiness", broken)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert "secret" not in answer.text
    assert client.get("/healthz").status_code == 200


def test_another_sentence_model_is_refused_with_advice(starter_settings: Settings) -> None:
    database = Database(starter_settings)
    with database.write() as session:
        corpus.set_model(session, "another-model", 1024)
    with pytest.raises(WrongEmbedder, match="playbook reindex"), TestClient(create_app(starter_settings)):
        pass


def test_a_damaged_index_file_is_made_anew(starter_settings: Settings) -> None:
    path = starter_settings.var_dir / "index" / "vectors.npz"
    path.parent.mkdir(exist_ok=True)
    for content in (b"", b"not an archive", b"PK\x03\x04 half of one"):
        path.write_bytes(content)
        with TestClient(create_app(starter_settings)) as client:
            assert client.get("/readyz").json()["ready"]
        assert path.stat().st_size > 1000


def test_an_index_file_of_another_database_is_not_used(starter_settings: Settings, tmp_path: Path) -> None:
    with TestClient(create_app(starter_settings)):
        pass
    fresh = starter_settings.model_copy(update={"database_url": f"sqlite:///{tmp_path / 'other.sqlite3'}"})
    with TestClient(create_app(fresh)) as client:
        client.post("/v1/bullets", json={"text": "Softmax over rows: keep the row in registers.", "family": "softmax"})
        found = client.post("/v1/search", json={"query": "softmax", "threshold": 0}).json()
        assert len(found["results"]) == 1


def test_openapi_describes_every_route_and_its_problems(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    operations = [op for path in described["paths"].values() for op in path.values()]
    assert len({op["operationId"] for op in operations}) == len(operations)
    assert all(op.get("description") for op in operations)


def test_the_vocabulary_is_part_of_the_api(client: TestClient) -> None:
    words = client.get("/v1/vocabulary").json()
    names = {operation["name"] for operation in words["operations"]}
    assert {"conv_transpose3d", "logsumexp", "any_activation"} <= names
    assert "conv_transpose" in words["families"]
    assert all(words["regimes"].values())
