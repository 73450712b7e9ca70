"""Reproduction: every context of the seed documents, asked for over HTTP, compared byte for byte.

Run: python -m eval.reproduction [--embedder minilm]. Prints a table and writes eval/results/reproduction.json.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx

from app.memory.policies import POLICIES
from eval.provenance import ROOT, SHARED, write
from eval.server import environment, server


@dataclass
class Tally:
    """What one policy came to."""

    equal: int = 0
    asked: int = 0
    tokens: list[int] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)


def main() -> int:
    """Imports, asks, compares; exit status 1 if any context differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="minilm")
    embedder = parser.parse_args().embedder
    seeds = sorted((SHARED / "seeds").glob("*.txt"))
    if not seeds:
        print("skipped: the seed documents are not beside this checkout")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        imports = [_import(Path(folder), embedder, seeds) for _ in range(2)]
        began = time.perf_counter()
        with server(Path(folder), embedder) as url:
            started = time.perf_counter()
            documents = [json.loads(path.read_text(encoding="utf-8")) for path in seeds]
            tallies = _ask(url, documents)
            asked = time.perf_counter() - started
            others = _sizes_of_other_policies(url, documents)
    _print(tallies, imports, asked)
    for name, tokens in others.items():
        print(f"{name:16} {'not in them':>12} {tokens:8.0f}")
    result = _result(tallies, imports, asked, started - began)
    write("reproduction", {**result, "tokens_median_of_other_policies": others})
    return 0 if all(tally.equal == tally.asked for tally in tallies.values()) else 1


def _import(var: Path, embedder: str, seeds: list[Path]) -> dict[str, Any]:
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "app.cli.main", "import", "--json", *map(str, seeds)],
        cwd=ROOT,
        env={**os.environ, **environment(var, embedder)},
        capture_output=True,
        check=True,
    )
    report = json.loads(done.stdout)
    return {"seconds": time.perf_counter() - began, "written": report["written"], "embedded": report["embedded"]}


def _leaves(documents: list[Any]) -> Iterator[tuple[str, str, str, str]]:
    for document in documents:
        for policy, readers in document.items():
            for reader, contexts in readers.items():
                for problem, text in contexts.items():
                    yield policy, reader, problem, text


def _ask(url: str, documents: list[Any]) -> dict[str, Tally]:
    tallies: dict[str, Tally] = {}
    with httpx.Client(base_url=url, timeout=30) as client:
        for policy, reader, problem, text in _leaves(documents):
            tally = tallies.setdefault(policy, Tally())
            began = time.perf_counter()
            answer = client.post(
                "/v1/context",
                json={"task": {"problem_id": problem}, "reader": reader, "policy": policy},
                headers={"accept": "text/plain"},
            )
            tally.milliseconds.append((time.perf_counter() - began) * 1000)
            tally.asked += 1
            tally.equal += answer.status_code == 200 and answer.content == text.encode()
            tally.tokens.append(-(-len(text) // 4))
    return tallies


def _sizes_of_other_policies(url: str, documents: list[Any]) -> dict[str, float]:
    """Median tokens of the policies that the documents do not hold, over the readers and problems that they do."""
    places = sorted({(reader, problem) for _, reader, problem, _ in _leaves(documents)})
    sizes: dict[str, float] = {}
    with httpx.Client(base_url=url, timeout=30) as client:
        for policy in sorted(set(POLICIES) - {policy for document in documents for policy in document}):
            tokens = []
            for reader, problem in places:
                asked = {"task": {"problem_id": problem}, "reader": reader, "policy": policy}
                tokens.append(client.post("/v1/context", json=asked).raise_for_status().json()["tokens"])
            sizes[policy] = median(tokens)
    return sizes


def _result(tallies: dict[str, Tally], imports: list[dict[str, Any]], asked: float, start: float) -> dict[str, Any]:
    return {
        "imports": imports,
        "server_start_seconds": start,
        "all_contexts_seconds": asked,
        "policies": {
            name: {
                "equal": tally.equal,
                "asked": tally.asked,
                "tokens_median": median(tally.tokens),
                "p50_ms": median(tally.milliseconds),
                "p95_ms": quantiles(tally.milliseconds, n=20)[-1],
            }
            for name, tally in tallies.items()
        },
    }


def _print(tallies: dict[str, Tally], imports: list[dict[str, Any]], asked: float) -> None:
    for name, done in zip(("first import", "second import"), imports, strict=True):
        print(f"{name}: {done['written']} written, {done['embedded']} embedded, {done['seconds']:.1f} s")
    print(f"{'policy':16} {'equal':>12} {'tokens':>8} {'p50 ms':>8} {'p95 ms':>8}")
    for name, tally in tallies.items():
        p95 = quantiles(tally.milliseconds, n=20)[-1]
        equal = f"{tally.equal} of {tally.asked}"
        print(f"{name:16} {equal:>12} {median(tally.tokens):8.0f} {median(tally.milliseconds):8.2f} {p95:8.2f}")
    same, total = sum(t.equal for t in tallies.values()), sum(t.asked for t in tallies.values())
    print(f"{same} of {total} contexts equal, byte for byte, in {asked:.1f} s")


if __name__ == "__main__":
    raise SystemExit(main())
