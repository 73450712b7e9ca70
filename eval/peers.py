"""Peers: other retrievers and ours, side by side in one run on the same items, tasks, sentence model and machine.

Run: python -m eval.peers [--items 10000]. Prints a table and writes eval/results/peers.json. Quality is nDCG@10 on the
development queries (four wordings; bullets and memories apart), where these lie beside the checkout; speed is measured
at the real corpus and at so many synthetic items. A peer that is not installed is named as skipped, with the reason.
"""

import argparse
import http.client
import itertools
import json
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from app.records import Item, Task
from app.retrieval.embedder import Embedder, Vectors, chosen_embedder
from app.services.assembly import Services, assembled
from app.services.ranking import Wish
from app.settings import Settings
from app.vocabulary import EmbedderName, ItemKind
from eval.load_client import post
from eval.originals import Originals, imported, opened
from eval.peer_engines import PEERS, Search
from eval.percentiles import percentile
from eval.provenance import SHARED, write
from eval.quality.metrics import ndcg
from eval.server import running
from eval.synthetic import Generator, Synthetic, fill
from eval.tasks import Wordings, tasks

WORDINGS = ("text", "terse", "code", "paraphrase")
SECONDS = 5.0
"""Time for one engine at one size, once for its latency and once for its queries per second."""
SLICES = 3
MOST = 200
THREADS = 8

Ask = Callable[[str, str], object]
"""Searches for a task given as (wording, text)."""


def main() -> int:
    """Measures everything and writes the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    asked = parser.parse_args()
    embedder = chosen_embedder(Settings(embedder=EmbedderName.MINILM))
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "real"
        originals = imported(base, embedder, "minilm")
        whole = embedder.encode([item.text for item in originals.items])
        quality = _quality(base, originals, whole, embedder)
        speed = [_speed(base, len(originals.items), originals.items, whole, embedder)]
        made = list(Generator(originals).make(asked.items - len(originals.items)))
        large = Path(folder) / "large"
        _filled(base, large, originals, embedder, len(made))
        speed.append(_speed(large, asked.items, *_joined(originals, whole, made), embedder))
    skipped = {peer.name: reason for peer in PEERS if (reason := peer.missing())}
    for name, reason in skipped.items():
        print(f"skipped: {name} ({reason})")
    settings = {peer.name: peer.settings for peer in PEERS}
    write("peers", {"settings": settings, "skipped": skipped, "quality": quality, "speed": speed})
    return 0


def _filled(base: Path, folder: Path, originals: Originals, embedder: Embedder, count: int) -> None:
    shutil.copytree(base, folder)
    database = opened(folder, "minilm")
    fill(database, embedder.model_id, Generator(originals), count)
    database.dispose()


def _joined(originals: Originals, whole: Vectors, made: Sequence[Synthetic]) -> tuple[list[Item], Vectors]:
    items = [*originals.items, *(synthetic.item for synthetic in made)]
    return items, np.concatenate([whole, np.stack([synthetic.vector for synthetic in made])])


def _services(folder: Path) -> Services:
    services = assembled(Settings(var_dir=folder, database_url="", embedder=EmbedderName.MINILM))
    services.catalog.current()
    services.tasks.warm_up()
    return services


def _quality(base: Path, originals: Originals, whole: Vectors, embedder: Embedder) -> list[dict[str, Any]]:
    """nDCG@10 by engine, kind and wording, as means over the queries; nothing where the queries are missing."""
    queries = SHARED / "eval" / "dev_queries.jsonl"
    if not queries.exists():
        print("quality skipped: the development queries are not beside this checkout")
        return []
    asked = [json.loads(line) for line in queries.read_text(encoding="utf-8").splitlines()]
    labels = json.loads((SHARED / "eval" / "dev_labels.json").read_text(encoding="utf-8"))
    services, embedder = _services(base), _Remembering(embedder)
    rows = []
    for kind in (ItemKind.BULLET, ItemKind.MEMORY):
        chosen = [row for row, item in enumerate(originals.items) if item.kind is kind]
        items, vectors = [originals.items[row] for row in chosen], whole[chosen]
        ids = {item.id for item in items}
        grades = {query["id"]: {i: g for i, g in labels[query["id"]].items() if i in ids} for query in asked}
        for name, search in _engines(items, vectors, embedder):
            rows.append({"engine": name, "kind": kind.value, **_scored(asked, grades, _top_ten(search))})
        rows.append({"engine": "Kernel Playbook", "kind": kind.value, **_scored(asked, grades, _ours(services, kind))})
    for row in rows:
        print(f"{row['engine']:16} {row['kind']:8} nDCG@10 {row['mean']:.3f}")
    return rows


class _Remembering:
    """An embedder that encodes a query once for all engines; used where speed is not measured."""

    def __init__(self, embedder: Embedder) -> None:
        self.model_id, self.dimension = embedder.model_id, embedder.dimension
        self._embedder = embedder
        self._known: dict[str, Vectors] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, each made once."""
        for text in texts:
            if text not in self._known:
                self._known[text] = self._embedder.encode([text])[0]
        return np.stack([self._known[text] for text in texts])


def _engines(items: Sequence[Item], vectors: Vectors, embedder: Embedder) -> Iterator[tuple[str, Search]]:
    for peer in PEERS:
        if peer.missing() is None:
            yield peer.name, peer.build(items, vectors, embedder)


def _top_ten(search: Search) -> Callable[[str, str], list[str]]:
    return lambda _, text: search(text, 10)


def _ours(services: Services, kind: ItemKind) -> Callable[[str, str], list[str]]:
    wish = Wish(kinds=frozenset({kind}), threshold=0.0, diversify=False)
    return lambda wording, text: [hit.item.id for hit in services.search.find(_task(wording, text), wish).results]


def _task(wording: str, text: str) -> Task:
    return Task(code=text) if wording == "code" else Task(text=text)


def _scored(
    asked: Sequence[Mapping[str, str]],
    grades: Mapping[str, Mapping[str, float]],
    search: Callable[[str, str], list[str]],
) -> dict[str, float]:
    scores = {
        wording: mean(ndcg(search(wording, query[wording]), grades[query["id"]]) for query in asked)
        for wording in WORDINGS
    }
    return {**{name: round(score, 4) for name, score in scores.items()}, "mean": round(mean(scores.values()), 4)}


def _speed(folder: Path, size: int, items: Sequence[Item], vectors: Vectors, embedder: Embedder) -> dict[str, Any]:
    """Every engine's speed over the same items."""
    asks: dict[str, Ask] = {"MiniLM alone (encode)": lambda _, text: embedder.encode([text])}
    asks.update({name: _top_ten(search) for name, search in _engines(items, vectors, embedder)})
    services, wish = _services(folder), Wish()
    asks["Kernel Playbook, in process"] = lambda wording, text: services.search.find(_task(wording, text), wish)
    with running(folder, "minilm") as server:
        asks["Kernel Playbook, over HTTP"] = _over_http(server.port)
        rows = timed(asks, SECONDS)
    services.database.dispose()
    for row in rows:
        print(f"{size:6} {row['engine']:28} p50 {row['p50_ms']:8.2f} ms {row['queries_per_second']:8.1f} queries/s")
    return {"items": size, "engines": rows}


def _over_http(port: int) -> Ask:
    local = threading.local()

    def ask(wording: str, text: str) -> object:
        if not hasattr(local, "connection"):
            local.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        body = {"task": {"code" if wording == "code" else "text": text}}
        status, answer = post(local.connection, "/v1/search", body)
        if status != 200:
            raise RuntimeError(f"the server answered {status}")
        return answer

    return ask


def timed(asks: Mapping[str, Ask], seconds: float) -> list[dict[str, Any]]:
    """p50 in milliseconds by wording with one thread, and queries per second with several, of every engine.

    The engines take turns, task by task and then slice by slice, so that a machine that others use as well is no faster
    for one than for another. The tasks are new to each, so that nothing is remembered; `seconds` is a share per engine.
    """
    streams = {name: _stream(tasks(seed)) for seed, name in enumerate(asks, start=1)}
    for name, ask in asks.items():
        for _ in WORDINGS:
            ask(*next(streams[name]))
    times: dict[str, dict[str, list[float]]] = {name: {wording: [] for wording in WORDINGS} for name in asks}
    deadline = time.perf_counter() + seconds * len(asks)
    for turn in range(MOST):
        for name, ask in asks.items():
            wording, text = next(streams[name])
            began = time.perf_counter()
            ask(wording, text)
            times[name][wording].append((time.perf_counter() - began) * 1000)
        if time.perf_counter() > deadline and turn >= len(WORDINGS):
            break
    slices: dict[str, list[tuple[int, float]]] = {name: [] for name in asks}
    for _ in range(SLICES):
        for name, ask in asks.items():
            slices[name].append(_slice(ask, streams[name], seconds / SLICES))
    return [{"engine": name, **_figures(times[name], slices[name])} for name in asks]


def _figures(times: Mapping[str, Sequence[float]], slices: Sequence[tuple[int, float]]) -> dict[str, Any]:
    by_wording = {f"{wording}_p50_ms": round(percentile(found, 0.5), 3) for wording, found in times.items() if found}
    p50 = percentile([value for found in times.values() for value in found], 0.5)
    rate = sum(count for count, _ in slices) / sum(wall for _, wall in slices)
    return {"p50_ms": round(p50, 3), **by_wording, "queries_per_second": round(rate, 1)}


def _slice(ask: Ask, stream: Iterator[tuple[str, str]], seconds: float) -> tuple[int, float]:
    """How many queries THREADS threads get answered that are begun in so many seconds, and how long all took."""
    lock = threading.Lock()
    done: list[float] = []
    began = time.perf_counter()

    def work() -> None:
        while time.perf_counter() - began < seconds:
            with lock:
                asked = next(stream)
            ask(*asked)
            done.append(time.perf_counter())

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(done), time.perf_counter() - began


def _stream(source: Iterator[Wordings]) -> Iterator[tuple[str, str]]:
    """Each task in one wording, the four in turn."""
    for wording, task in zip(itertools.cycle(WORDINGS), source, strict=False):
        yield wording, getattr(task, "prose" if wording == "text" else wording)


if __name__ == "__main__":
    raise SystemExit(main())
