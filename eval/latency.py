"""Latency: searches over HTTP against a real server process, at several corpus sizes.

Run: python -m eval.latency [--sizes 1000,10000] [--clients 1,8] [--workers 1,2]. Prints a table and writes
eval/results/latency.json. One client is measured against one server process, several against each number of them.
The embedder's own encode time is measured right before the searches of each size, in this process, so that results can
be read as ratios on a machine that others use as well. `--sizes 1000,10000,100000` takes some minutes more.
"""

import argparse
import http.client
import itertools
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from app.retrieval.embedder import Embedder, chosen_embedder
from app.settings import Settings
from app.store import corpus, facts
from app.store.database import Database
from app.vocabulary import EmbedderName
from eval.load_client import Body, load, post
from eval.originals import Originals, imported, opened
from eval.percentiles import percentile
from eval.provenance import write
from eval.server import Running, running
from eval.synthetic import Generator, fill
from eval.tasks import Wordings, problems, tasks
from eval.word_statistics import statistics

SEARCH = "/v1/search"
SECONDS = 4.0
"""Longest time for one kind of task at one number of clients."""
MOST = {1: 200, 8: 1600}
REPEATED = 20
"""Different tasks among which the repeated ones are chosen."""
WRITES = 5


def main() -> int:
    """Measures every size and writes the result; exit status 1 if any answer was a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--clients", default="1,8")
    parser.add_argument("--workers", default="1,2", help="numbers of server processes; the first one is the standard")
    parser.add_argument("--embedder", default="minilm")
    asked = parser.parse_args()
    clients, workers = ([int(count) for count in text.split(",")] for text in (asked.clients, asked.workers))
    embedder = chosen_embedder(Settings(embedder=EmbedderName(asked.embedder)))
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        originals = imported(base, embedder, asked.embedder)
        real = statistics([item.text for item in originals.items])
        sample = statistics([made.item.text for made in Generator(originals).make(1000)])
        sizes: list[dict[str, Any]] = []
        result = {"word_statistics": {"real": real, "synthetic": sample}, "sizes": sizes}
        for size in [int(number) for number in asked.sizes.split(",")]:
            sized = Path(folder) / str(size)
            shutil.copytree(base, sized)
            sizes.append(_measure(sized, size, clients, workers, originals, asked.embedder, embedder))
            shutil.rmtree(sized)
            write("latency", result)
    return 1 if any(cell["faults"] for size in sizes for cell in size["searches"]) else 0


def _encode_times(embedder: Embedder) -> dict[str, dict[str, float]]:
    """Milliseconds to encode one whole task text, for each wording that may need the sentence model."""
    embedder.encode(["warm up"])
    chosen = list(itertools.islice(tasks(seed=1), 30))
    found = {}
    for wording in ("prose", "paraphrase", "terse"):
        times = []
        for task in chosen:
            began = time.perf_counter()
            embedder.encode([getattr(task, wording)])
            times.append((time.perf_counter() - began) * 1000)
        found[wording] = {"p50_ms": round(percentile(times, 0.5), 3), "p95_ms": round(percentile(times, 0.95), 3)}
    return found


def _measure(
    folder: Path,
    size: int,
    clients: list[int],
    workers: list[int],
    originals: Originals,
    name: str,
    embedder: Embedder,
) -> dict[str, Any]:
    """Everything that is measured at one size."""
    database = opened(folder, name)
    began = time.perf_counter()
    fill(database, embedder.model_id, Generator(originals), size - len(originals.items))
    filled = time.perf_counter() - began
    ids = problem_ids(database)
    database.dispose()
    with running(folder, name, {"PLAYBOOK_WORKERS": str(workers[0])}) as server:
        encode = _encode_times(embedder)
        print("encode p50:", ", ".join(f"{name} {figures['p50_ms']:.1f} ms" for name, figures in encode.items()))
        cells = list(searches(server, clients, workers[0], ids))
        writes = write_to_visible(server, ids[0])
        memory = server.peak_memory()
    for count in workers[1:]:
        with running(folder, name, {"PLAYBOOK_WORKERS": str(count)}) as more:
            cells += searches(more, [number for number in clients if number > 1], count, ids)
    megabytes = None if memory is None else round(memory / 2**20)
    print(f"{size} items: filled in {filled:.0f} s, started in {server.start_seconds:.1f} s, {megabytes} MB, {writes}")
    return {
        "items": size,
        "fill_seconds": round(filled, 1),
        "start_seconds": round(server.start_seconds, 2),
        "peak_memory_mb": megabytes,
        "write_to_visible": writes,
        "encode": encode,
        "searches": cells,
    }


def problem_ids(database: Database) -> list[str]:
    """Ids of known problems; a corpus without any is given some."""
    with database.write() as session:
        if not corpus.facts(session).problems:
            facts.put_problems(session, problems(100))
            corpus.advance(session, facts=True)
    with database.read() as session:
        return sorted(corpus.facts(session).problems)


def searches(server: Running, clients: list[int], workers: int, ids: list[str]) -> Iterator[dict[str, Any]]:
    """One cell for each number of clients and kind of task, against a server of so many processes."""
    for count in clients:
        stream = tasks(seed=100 + count)
        for kind, bodies in _kinds(stream, ids).items():
            known = {"repeated": REPEATED, "id": len(ids)}.get(kind, 2 * count) * workers
            load(server.port, SEARCH, bodies, clients=count, seconds=20.0, most=known)
            done = load(server.port, SEARCH, bodies, clients=count, seconds=SECONDS, most=MOST.get(count, 400))
            cell = {"task": kind, "clients": count, "workers": workers, **done.summary()}
            told = f"p50 {cell['p50_ms']} ms, {cell['queries_per_second']} queries/s"
            print(f"  {kind:11} {count} clients, {workers} processes: {told}", flush=True)
            yield cell


def _kinds(stream: Iterator[Wordings], ids: list[str]) -> dict[str, Iterator[Body]]:
    """Bodies of every kind of task. Ids and repeated tasks were all asked once before they are measured."""
    again = [{"task": {"text": task.paraphrase}} for task in itertools.islice(stream, REPEATED)]
    return {
        "code": ({"task": {"code": task.code}} for task in stream),
        "terse": ({"query": task.terse} for task in stream),
        "prose": ({"query": task.prose} for task in stream),
        "paraphrase": ({"query": task.paraphrase} for task in stream),
        "id": ({"task": {"problem_id": problem}} for problem in itertools.cycle(ids)),
        "repeated": itertools.cycle(again),
    }


def write_to_visible(server: Running, problem: str) -> dict[str, float]:
    """Median milliseconds of a write, and of the first search after it, which holds one candidate more."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    question = {"task": {"problem_id": problem}}
    before = _candidates(connection, question)
    written, searched = [], []
    for number in range(WRITES):
        text = f"Written while it is measured, number {number}: fuse the bias into the epilogue of the convolution."
        began = time.perf_counter()
        status, _ = post(connection, "/v1/bullets", {"kind": "bullet", "text": text})
        answered = time.perf_counter()
        after = _candidates(connection, question)
        searched.append((time.perf_counter() - answered) * 1000)
        written.append((answered - began) * 1000)
        if status != 201 or after != before + 1:
            raise RuntimeError(f"the write was answered {status} and is not visible: {before} -> {after} candidates")
        before = after
    return {"write_ms": round(median(written), 2), "first_search_ms": round(median(searched), 2)}


def _candidates(connection: http.client.HTTPConnection, question: Body) -> int:
    _, answer = post(connection, SEARCH, question)
    return int(json.loads(answer)["total_candidates"])


if __name__ == "__main__":
    raise SystemExit(main())
