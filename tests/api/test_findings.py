"""Findings over HTTP: the known cases of the documents, accepted, dismissed, and not reported twice."""

from typing import Any

from fastapi.testclient import TestClient


def found(client: TestClient) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = client.post("/v1/findings/refresh").json()["items"]
    return listed


def of_kind(findings: list[dict[str, Any]], kind: str) -> list[set[str]]:
    return [set(finding["items"]) for finding in findings if finding["kind"] == kind]


def test_the_known_cases_of_the_documents_are_found(seeded_client: TestClient) -> None:
    findings = found(seeded_client)
    assert len(of_kind(findings, "damage")) == 3
    pairs = of_kind(findings, "near_duplicate")
    for left, right in (("00086", "00087"), ("00105", "00106"), ("00060", "00121"), ("00129", "00130")):
        assert {f"mem-{left}", f"mem-{right}"} in pairs
    assert [len(items) for items in of_kind(findings, "one_rule")] == [5]
    items = {item["id"]: item for item in seeded_client.get("/v1/bullets", params={"limit": 500}).json()["items"]}
    families = {items[item_id]["family"] for pair in of_kind(findings, "contradiction") for item_id in pair}
    assert {"conv_transpose", "network"} <= families
    assert [len(items) for items in of_kind(findings, "never_used")] != []


def test_an_accepted_finding_is_carried_out_and_can_be_undone(seeded_client: TestClient) -> None:
    rule = next(finding for finding in found(seeded_client) if finding["kind"] == "one_rule")
    done = seeded_client.post(f"/v1/findings/{rule['id']}", json={"action": "accept"}).json()
    assert done["state"] == "accepted"
    gone = [i for i in rule["items"] if seeded_client.get(f"/v1/bullets/{i}").json()["status"] == "retired"]
    assert len(gone) == 4
    assert seeded_client.post(f"/v1/findings/{rule['id']}", json={"action": "accept"}).status_code == 409
    assert seeded_client.post(f"/v1/operations/{done['batch_id']}/revert").status_code == 200
    assert all(seeded_client.get(f"/v1/bullets/{i}").json()["status"] == "active" for i in rule["items"])


def test_a_dismissed_finding_is_not_reported_again(seeded_client: TestClient) -> None:
    first = found(seeded_client)[0]
    path = f"/v1/findings/{first['id']}"
    assert seeded_client.post(path, json={"action": "dismiss"}).status_code == 422
    assert seeded_client.post(path, json={"action": "dismiss", "reason": "as intended"}).status_code == 200
    assert first["id"] not in {finding["id"] for finding in found(seeded_client)}
    dismissed = seeded_client.get("/v1/findings", params={"state": "dismissed"}).json()["items"]
    assert [(finding["id"], finding["note"]) for finding in dismissed] == [(first["id"], "as intended")]


def test_a_finding_that_is_mended_is_gone(seeded_client: TestClient) -> None:
    broken = next(finding for finding in found(seeded_client) if finding["kind"] == "damage")
    item = seeded_client.get(f"/v1/bullets/{broken['items'][0]}").json()
    seeded_client.patch(f"/v1/bullets/{item['id']}", json={"version": item["version"], "text": "A whole sentence."})
    assert broken["id"] not in {finding["id"] for finding in found(seeded_client)}


def test_duplicates_and_conflicts_have_lists_of_their_own(seeded_client: TestClient) -> None:
    found(seeded_client)
    duplicates = seeded_client.get("/v1/duplicates").json()
    conflicts = seeded_client.get("/v1/conflicts").json()
    assert duplicates["total"] >= 6
    assert conflicts["total"] >= 2
    assert all(finding["evidence"] for finding in [*duplicates["items"], *conflicts["items"]])


def test_an_unknown_finding_is_404(client: TestClient) -> None:
    assert client.post("/v1/findings/nothing", json={"action": "accept"}).status_code == 404
