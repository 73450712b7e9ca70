"""Soak: readers and voters for a long time; reports errors, growth of memory, and whether a vote was lost.

Run: python -m eval.soak [--minutes 30] [--clients 8] [--embedder minilm]. Exit status 1 where an answer was
a fault, where counters differ from the answered votes, or where memory grew by more than a tenth after the first
quarter.
"""

import argparse
import json
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.settings import Settings
from app.store import corpus, history
from app.store.database import Database
from app.vocabulary import EmbedderName
from eval.load import UNLIMITED, bodies, prepared
from eval.load_client import Measured, load
from eval.provenance import write
from eval.server import Running, running

PIECE = 10.0
"""Seconds of load between two looks at the memory."""

MOST_GROWTH = 1.1
"""Resident memory at the end, as a multiple of that after the first quarter."""


@dataclass
class Soaked:
    """What a soak came to."""

    requests: dict[str, int]
    faults: dict[str, int]
    memory_mb: list[float]

    @property
    def growth(self) -> float:
        """Memory at the end over memory after the first quarter, each as the median of some looks."""
        looks = self.memory_mb
        quarter = len(looks) // 4
        early, late = looks[quarter : quarter + 5] or looks, looks[-5:]
        return sorted(late)[len(late) // 2] / sorted(early)[len(early) // 2]


def main() -> int:
    """Soaks a server and writes eval/results/soak.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--embedder", default="minilm")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        key, ids = prepared(Path(folder), asked.embedder)
        with running(Path(folder), asked.embedder, UNLIMITED) as server:
            soaked = _soak(server, key, ids, asked.clients, asked.minutes * 60)
        exact, votes = _exact(Path(folder), asked.embedder, soaked.requests["feedback"])
    result: dict[str, Any] = {
        "minutes": asked.minutes,
        "clients": asked.clients,
        "requests": soaked.requests,
        "faults": soaked.faults,
        "votes_counted": votes,
        "counters_exact": exact,
        "memory_mb": soaked.memory_mb,
        "memory_growth": round(soaked.growth, 3),
    }
    print(json.dumps({name: value for name, value in result.items() if name != "memory_mb"}, indent=1))
    write("soak", result)
    faultless = all(soaked.requests.values()) and not any(soaked.faults.values())
    return 0 if exact and faultless and soaked.growth <= MOST_GROWTH else 1


def _soak(server: Running, key: str, ids: list[str], clients: int, seconds: float) -> Soaked:
    """Pieces of load, a third of the clients for each kind of request."""
    kinds = bodies(ids, seed=7)
    found = Soaked(dict.fromkeys(kinds, 0), dict.fromkeys(kinds, 0), [])
    headers = {"X-API-Key": key}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        results: dict[str, Measured] = {}

        def work(kind: str, results: dict[str, Measured] = results) -> None:
            path, asked = kinds[kind]
            share = max(1, clients // len(kinds))
            results[kind] = load(
                server.port, path, asked, clients=share, seconds=min(PIECE, seconds), most=2000, headers=headers
            )

        threads = [threading.Thread(target=work, args=(kind,)) for kind in kinds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for kind, measured in results.items():
            found.requests[kind] += len(measured.latencies)
            found.faults[kind] += measured.faults
        found.memory_mb.append(server.resident_memory() or 0.0)
        print(f"{found.requests} {found.faults} {found.memory_mb[-1]:.0f} MB", flush=True)
    return found


def _exact(var: Path, embedder: str, answered: int) -> tuple[bool, int]:
    """Whether the counters are the sums of their events and, in all, the votes that were answered."""
    database = Database(Settings(var_dir=var, embedder=EmbedderName(embedder), database_url=""))
    with database.read() as session:
        items = corpus.items_since(session, -1)
        sums = history.sums(session)
    database.dispose()
    votes = sum(item.helpful for item in items)
    return votes == answered and all((i.helpful, i.harmful) == sums.get(i.id, (0, 0)) for i in items), votes


if __name__ == "__main__":
    raise SystemExit(main())
