"""What the service tells of itself: metrics with bounded labels, logs without secrets, an audit log, readiness."""

import json
import logging
import re
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from app.api.logs import JsonLines, TextLines, log_config
from app.settings import Settings
from app.store import corpus
from app.store.database import Database
from app.vocabulary import LogFormat, LogLevel, Scope
from tests.conftest import ROOT
from tests.security.conftest import Keys


@pytest.fixture
def lines() -> Iterator[list[logging.LogRecord]]:
    """Records of the request log, while a test runs."""
    records: list[logging.LogRecord] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)
            # The format is that of the moment: the request's id is known only while it is answered.
            record.line = JsonLines().format(record)

    root, handler = logging.getLogger(), Keeping()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield records
    root.removeHandler(handler)
    root.setLevel(before)


def scraped(client: TestClient, headers: dict[str, str]) -> dict[str, float]:
    """Series -> value, of one scrape."""
    text = client.get("/metrics", headers=headers).text
    rows = [line.rpartition(" ") for line in text.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, _, value in rows}


def test_requests_phases_and_the_standing_of_the_playbook_are_told(guarded: TestClient, keys: Keys) -> None:
    headers = keys(Scope.ADMIN)
    before = scraped(guarded, headers)
    assert guarded.post("/v1/search", json={"query": "conv2d relu"}, headers=headers).status_code == 200
    guarded.post("/v1/feedback", json={"items": [{"id": "kpb-00001", "signal": "harmful"}]}, headers=headers)
    found = scraped(guarded, headers)
    assert found['playbook_requests_total{method="POST",route="/v1/search",status="200"}'] == 1
    for phase in ("answer", "snapshot", "reading", "ranking"):
        assert found[f'playbook_phase_seconds_count{{phase="{phase}",route="/v1/search"}}'] == 1
    assert found['playbook_votes{signal="harmful"}'] == before['playbook_votes{signal="harmful"}'] + 1
    assert found["playbook_index_drift"] == 1, "the vote is not in the snapshot before the next answer"
    assert found['playbook_items{kind="recipe",status="active"}'] > 0
    assert found['playbook_runs{state="queued"}'] == 0
    assert found["playbook_database_up"] == 1
    assert found["process_resident_memory_bytes"] > 0


def test_labels_are_bounded_whatever_clients_send(guarded: TestClient, keys: Keys) -> None:
    headers = keys(Scope.READ)
    for number in range(50):
        guarded.get(f"/nowhere/{number}", headers=headers)
        guarded.get(f"/v1/bullets/str-{number:05d}", headers=headers)
        guarded.request(f"BREW{number}", "/v1/search", headers=headers)
    text = guarded.get("/metrics", headers=headers).text
    assert "nowhere" not in text
    assert "str-00" not in text
    assert "BREW" not in text
    assert 'route="/v1/bullets/{item_id}"' in text


def test_metrics_tell_a_database_that_does_not_answer(
    guarded: TestClient, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.errors import DatabaseUnavailable

    def gone(*_: object) -> None:
        raise DatabaseUnavailable("gone")

    monkeypatch.setattr("app.api.metrics.standing", gone)
    assert scraped(guarded, keys(Scope.READ))["playbook_database_up"] == 0


def test_logs_hold_request_ids_and_no_secrets(guarded: TestClient, keys: Keys, lines: list[logging.LogRecord]) -> None:
    headers = {**keys(Scope.ADMIN, name="ada"), "X-Request-ID": "mine-3"}
    made = guarded.post("/v1/keys", json={"name": "new", "scopes": ["read"]}, headers=headers).json()
    guarded.post("/v1/search", json={"query": "a very private task"}, headers=headers)
    guarded.get("/v1/policies?token=hidden", headers={"Authorization": f"Bearer {made['key']}"})
    guarded.get("/v1/policies", headers={"X-API-Key": made["key"][:-1] + "-"})
    written = [json.loads(record.line) for record in lines if record.name == "playbook.requests"]  # type: ignore[attr-defined]
    assert [(line["status"], line["caller"]) for line in written] == [
        (201, "ada"),
        (200, "ada"),
        (200, "new"),
        (401, None),
    ]
    assert written[0]["request_id"] == "mine-3"
    assert len({line["request_id"] for line in written[2:]}) == 2
    everything = "\n".join(record.line for record in lines if not record.name.startswith("http"))  # type: ignore[attr-defined]
    for secret in (headers["X-API-Key"], made["key"], made["key"].rpartition("_")[2], "private", "hidden"):
        assert secret not in everything


def test_a_path_cannot_forge_a_log_line(guarded: TestClient, keys: Keys, lines: list[logging.LogRecord]) -> None:
    guarded.get("/v1/bullets/x%0A2026-01-01%20info%20forged%1b[2J%00", headers=keys(Scope.READ))
    record = next(record for record in lines if record.name == "playbook.requests")
    for form in (JsonLines(), TextLines()):
        line = form.format(record)
        assert line.isprintable()
        assert "%0A" in line


def test_every_record_is_one_json_object_and_exceptions_stay_inside_it() -> None:
    try:
        raise ValueError("broken\nin two lines")
    except ValueError:
        record = logging.getLogger("x").makeRecord(
            "x", logging.ERROR, "f", 1, "went %s", ("wrong",), __import__("sys").exc_info()
        )
    line = JsonLines().format(record)
    assert "\n" not in line
    assert json.loads(line)["message"] == "went wrong"
    assert "ValueError" in json.loads(line)["exception"]


@pytest.mark.parametrize("form", list(LogFormat))
def test_the_logging_configuration_is_one_that_python_takes(form: LogFormat) -> None:
    from logging.config import DictConfigurator

    root = logging.getLogger()
    kept, level = root.handlers[:], root.level
    try:
        DictConfigurator(log_config(LogLevel.WARNING, form)).configure()
    finally:
        root.handlers[:], root.level = kept, level


def test_changes_and_refusals_are_in_the_audit_log_and_votes_are_not(guarded: TestClient, keys: Keys) -> None:
    admin, reader = keys(Scope.ADMIN, name="ada"), keys(Scope.READ, Scope.FEEDBACK, name="eve")
    guarded.post("/v1/bullets", json={"text": "One."}, headers={**admin, "X-Request-ID": "r-1"})
    guarded.post("/v1/feedback", json={"items": [{"id": "kpb-00001", "signal": "helpful"}]}, headers=reader)
    guarded.post("/v1/search", json={"query": "x"}, headers=reader)
    guarded.delete("/v1/bullets/kpb-00001%00%0A", headers=reader)
    guarded.post("/v1/bullets", json={"text": ""}, headers=admin)
    guarded.app.state.services.audit.flush()  # type: ignore[attr-defined]
    entries = guarded.get("/v1/audit", params={"limit": 2}, headers=admin).json()["items"]
    told = [(entry["actor"], entry["action"], entry["status"], entry["target"]) for entry in entries]
    assert told == [
        ("eve", "DELETE /v1/bullets/{item_id}", 403, "/v1/bullets/kpb-00001%00%0A"),
        ("ada", "POST /v1/bullets", 201, "/v1/bullets"),
    ]
    assert entries[1]["request_id"] == "r-1"


def test_readiness_tells_drift_migration_level_and_another_model(
    guarded: TestClient, guarded_settings: Settings
) -> None:
    database = Database(guarded_settings)
    with database.write() as session:
        corpus.advance(session)
    told = guarded.get("/readyz").json()["checks"]
    assert told["queue"] == "0 runs queued, 0 running"
    assert "1 versions behind when asked" in told["index"]
    assert "at migration" in told["database"]
    assert "0 versions behind" in guarded.get("/readyz").json()["checks"]["index"]
    with database.write() as session:
        corpus.set_model(session, "another-model", 1024)
    refused = guarded.get("/readyz")
    assert refused.status_code == 503
    assert "playbook reindex" in refused.json()["checks"]["model"]
    database.dispose()


def test_readiness_and_metrics_tell_how_long_the_queue_has_waited(
    guarded: TestClient, guarded_settings: Settings, keys: Keys
) -> None:
    database = Database(guarded_settings)
    kernel = guarded.get("/v1/kernels", headers=keys(Scope.READ)).json()["items"][0]["id"]
    ordered = guarded.post(
        f"/v1/kernels/{kernel}/verify", json={"hardware": ["NVIDIA H200"]}, headers=keys(Scope.VERIFY, name="v")
    )
    assert ordered.status_code == 202, ordered.text
    with database.engine.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE verification_run SET queued_at = '2026-01-01 00:00:00' WHERE state = 'queued'"
        )
    database.dispose()
    assert "the oldest has waited for" in guarded.get("/readyz").json()["checks"]["queue"]
    assert scraped(guarded, keys(Scope.READ, name="r"))["playbook_queue_age_seconds"] > 1000


def test_the_dashboard_asks_only_for_series_that_there_are(guarded: TestClient, keys: Keys) -> None:
    dashboard = (ROOT / "docs" / "grafana" / "kernel-playbook.json").read_text(encoding="utf-8")
    headers = keys(Scope.READ)
    guarded.post("/v1/search", json={"query": "x"}, headers=headers)
    known = {re.split(r"[{ ]", name)[0] for name in scraped(guarded, headers)} | {"playbook_verdicts"}
    asked = {
        name
        for target in (t for panel in json.loads(dashboard)["panels"] for t in panel.get("targets", []))
        for name in re.findall(r"\b(?:playbook|process)_[a-z_]+", target["expr"])
    }
    assert len(asked) >= 12
    assert asked - known == set()
