"""Load: searches, contexts and feedback over HTTP, behind a key, at 1, 8 and 32 clients.

Run: python -m eval.load [--clients 1,8,32] [--seconds 10] [--embedder minilm]. Prints a table and writes
eval/results/load.json: p50, p95 and p99 in milliseconds, requests a second, faults, and resident memory before and
after.
"""

import argparse
import itertools
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.retrieval.embedder import chosen_embedder
from app.services.keys import create_key
from app.services.load import load as import_all
from app.services.migrate import ensure_migrated
from app.settings import Settings
from app.store import corpus
from app.store.database import Database
from app.vocabulary import AuthMode, EmbedderName, Scope
from eval.load_client import Body, load
from eval.provenance import ROOT, write
from eval.server import Running, running
from eval.tasks import tasks

FASTEST = 1000
"""Requests a second that no machine here answers; so many bodies are made beforehand."""

UNLIMITED = {"PLAYBOOK_AUTH": "keys", "PLAYBOOK_RATE_LIMIT": "0", "PLAYBOOK_RATE_LIMIT_WRITES": "0"}


def main() -> int:
    """Measures every kind of request at every number of clients; exit status 1 if any answer was a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", default="1,8,32")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--embedder", default="minilm")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        key, ids = prepared(Path(folder), asked.embedder)
        with running(Path(folder), asked.embedder, UNLIMITED) as server:
            cells = list(_cells(server, key, ids, [int(count) for count in asked.clients.split(",")], asked.seconds))
    write("load", {"cells": cells})
    return 1 if any(cell["faults"] for cell in cells) else 0


def prepared(var: Path, embedder: str) -> tuple[str, list[str]]:
    """A database with the starter corpus; a key that may read and vote, and the ids of its items."""
    settings = Settings(var_dir=var, embedder=EmbedderName(embedder), auth=AuthMode.KEYS, database_url="")
    database = Database(settings)
    ensure_migrated(database)
    import_all(database, chosen_embedder(settings), [ROOT / "bullets"])
    key = create_key(database, "load", [Scope.READ, Scope.FEEDBACK]).key
    with database.read() as session:
        ids = [item.id for item in corpus.items_since(session, -1)]
    database.dispose()
    return key, ids


def bodies(ids: list[str], seed: int) -> dict[str, tuple[str, Iterator[Body]]]:
    """Kind of request -> its path and bodies, without end."""
    turns = itertools.count()
    return {
        "search": ("/v1/search", ({"query": task.prose} for task in tasks(seed=seed))),
        "context": (
            "/v1/context",
            ({"task": {"code": task.code}, "reader": "load", "token_budget": 4000} for task in tasks(seed=seed)),
        ),
        "feedback": (
            "/v1/feedback",
            ({"reader": "load", "items": [{"id": ids[turn % len(ids)], "signal": "helpful"}]} for turn in turns),
        ),
    }


def _cells(server: Running, key: str, ids: list[str], clients: list[int], seconds: float) -> Iterator[dict[str, Any]]:
    for count in clients:
        for kind, (path, asked) in bodies(ids, seed=count).items():
            headers = {"X-API-Key": key}
            load(server.port, path, asked, clients=count, seconds=30, most=count, headers=headers)
            before = server.resident_memory()
            most = int(seconds * FASTEST)
            done = load(server.port, path, asked, clients=count, seconds=seconds, most=most, headers=headers)
            memory = {"before_mb": before, "after_mb": server.resident_memory()}
            cell = {"request": kind, "clients": count, **done.summary(), "resident_memory": memory}
            print(json.dumps(cell))
            yield cell


if __name__ == "__main__":
    raise SystemExit(main())
