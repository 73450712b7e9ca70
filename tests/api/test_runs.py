"""Ordering runs of kernels and reading runs over HTTP."""

from fastapi.testclient import TestClient

from app.settings import Settings
from app.store import corpus, work_orders, workers
from app.store.database import Database
from app.store.work_orders import Outcome

H200 = "NVIDIA H200"


def kernels(settings: Settings) -> list[str]:
    database = Database(settings)
    with database.read() as session:
        found = [item.id for item in corpus.items_since(session, -1) if item.kernel]
    database.dispose()
    return found


def test_an_order_waits_then_runs_then_tells_its_verdict(client: TestClient, starter_settings: Settings) -> None:
    kernel = kernels(starter_settings)[0]
    placed = client.post(f"/v1/kernels/{kernel}/verify", json={"hardware": [H200]}, headers={"X-Actor": "ada"})
    assert placed.status_code == 202
    run = placed.json()["items"][0]
    assert (run["item_id"], run["state"], run["hardware"], run["actor"]) == (kernel, "queued", H200, "ada")
    database = Database(starter_settings)
    with database.write() as session:
        claimed = work_orders.claim(session, run["id"], "host gpu 0")
        assert claimed is not None
        assert work_orders.beat(session, run["id"], claimed.attempts, "correctness")
    live = client.get(f"/v1/runs/{run['id']}").json()
    assert (live["state"], live["phase"], live["worker"]) == ("running", "correctness", "host gpu 0")
    assert live["heartbeat_at"] >= live["started_at"] >= live["queued_at"]
    kept = {"figures": None, "flags": ["a flag"], "detail": "why", "evidence": {"cases": 5}, "phases": {"load": 1.5}}
    with database.write() as session:
        found = Outcome("incorrect_value", None, {**kept, "seconds": 2.0}, {"evaluator": "1-abc"})
        assert work_orders.finish(session, run["id"], claimed.attempts, found)
    done = client.get(f"/v1/runs/{run['id']}").json()
    assert (done["state"], done["verdict"], done["phase"]) == ("finished", "incorrect_value", None)
    assert (done["flags"], done["detail"], done["evidence"]) == (["a flag"], "why", {"cases": 5})
    assert done["fingerprint"] == {"evaluator": "1-abc"}
    database.dispose()


def test_an_order_that_waits_is_not_placed_twice(client: TestClient, starter_settings: Settings) -> None:
    kernel = kernels(starter_settings)[0]
    ids = [
        client.post(f"/v1/kernels/{kernel}/verify", json={"hardware": [H200]}).json()["items"][0]["id"]
        for _ in range(3)
    ]
    assert len(set(ids)) == 1
    assert client.get("/v1/runs").json()["total"] == 1


def test_without_hardware_every_living_worker_s_kind_is_meant(client: TestClient, starter_settings: Settings) -> None:
    kernel = kernels(starter_settings)[0]
    nobody = client.post(f"/v1/kernels/{kernel}/verify")
    assert nobody.status_code == 409
    assert "playbook worker" in nobody.json()["detail"]
    database = Database(starter_settings)
    with database.write() as session:
        workers.arrive(session, "a gpu 0", H200, "1-abc")
        workers.arrive(session, "a gpu 1", H200, "1-abc")
        workers.arrive(session, "b cpu", "cpu-interpreter", "1-abc")
        workers.arrive(session, "c gone", "NVIDIA L4", "1-abc")
        workers.leave(session, "c gone")
    database.dispose()
    placed = client.post(f"/v1/kernels/{kernel}/verify").json()["items"]
    assert sorted(run["hardware"] for run in placed) == [H200, "cpu-interpreter"]


def test_runs_are_listed_newest_first_page_by_page_and_by_filter(
    client: TestClient, starter_settings: Settings
) -> None:
    ids = kernels(starter_settings)[:7]
    for kernel in ids:
        client.post(f"/v1/kernels/{kernel}/verify", json={"hardware": ["cpu-interpreter"]})
    seen: list[str] = []
    cursor = None
    while True:
        page = client.get("/v1/runs", params={"limit": 3, **({"cursor": cursor} if cursor else {})}).json()
        assert page["total"] == 7
        seen += [run["item_id"] for run in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == ids[::-1]
    for params, total in (
        ({"item_id": ids[2]}, 1),
        ({"hardware": H200}, 0),
        ({"state": "queued"}, 7),
        ({"state": ["running", "finished"]}, 0),
        ({"controls": "true"}, 0),
        ({"night": "2026-11-30"}, 0),
    ):
        assert client.get("/v1/runs", params=params).json()["total"] == total, params


def test_what_cannot_be_verified_is_explained(client: TestClient, starter_settings: Settings) -> None:
    database = Database(starter_settings)
    with database.read() as session:
        bullet = next(item.id for item in corpus.items_since(session, -1) if item.kernel is None)
    database.dispose()
    wish = {"hardware": [H200]}
    assert client.post(f"/v1/kernels/{bullet}/verify", json=wish).status_code == 422
    assert client.post("/v1/kernels/ker-99999/verify", json=wish).status_code == 404
    assert client.post(f"/v1/kernels/{bullet}/verify", json={"gpu": 0}).status_code == 422
    assert client.get("/v1/runs/run-nothing").status_code == 404
    assert client.get("/v1/runs", params={"state": "lost"}).status_code == 422
    assert client.get("/v1/runs", params={"limit": 0}).status_code == 422
    assert client.get("/v1/nights/2026-11-30").status_code == 404
    assert client.get("/v1/nights/tonight").status_code == 422
    assert client.get("/v1/nights").json() == {"items": [], "total": 0, "next_cursor": None}
