"""Renders eval/README.md and the plots from the result files. No figure in them is written by hand.

Run: python -m eval.render.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from eval import plots
from eval.provenance import RESULTS, ROOT
from eval.service_page import admin_pages, backends, load, soak
from eval.tables import table
from eval.verification_page import last_run

Result = Mapping[str, Any]

ROOM_MS = {10_000: 5.0, 100_000: 10.0}
"""Milliseconds that a search may take beyond the encoding of its text, by corpus size."""

RATE_TARGETS = {"code": 240.0, "prose": 100.0}
"""Queries per second to reach with 8 clients at 10,000 items."""

KNOWN_MS = 10.0
"""Milliseconds for a repeated task, or one that is only an id."""

HEAD = """# Benchmarks

This page is rendered by `python -m eval.render` from the files in `results/`; each of them carries the commit, the
machine, the versions and the date that it comes from. `make bench` measures everything anew.

| command | measures |
|---|---|
| `python -m eval.reproduction` | every context of the seed documents, byte for byte |
| `python -m eval.latency` | searches over HTTP, memory, start, writes (`--sizes 1000,10000,100000`) |
| `python -m eval.peers` | other retrievers and ours in one run (extra `bench`) |
| `python -m eval.quality` | the ranking core on the development queries, against simpler rankings |
| `python -m eval.backends` | SQLite with FAISS against PostgreSQL with pgvector: speed, and whether both rank alike |
| `python -m eval.load` | searches, contexts and votes behind a key at 1, 8 and 32 clients |
| `make soak` | 30 minutes of load, memory and votes; then 20 rounds of kill -9 |
| `python -m eval.admin_pages` | server time of every page of the curator's desk at 10,000 items |

Machines are shared and differ: read the times as ratios to the sentence model's encode time of the same run.
"""


def main() -> int:
    """Writes the page and the plots."""
    found = {name: _read(name) for name in SECTIONS}
    parts = [HEAD]
    for name, render in SECTIONS.items():
        if (result := found[name]) is not None:
            parts.append("\n".join([*render(result), "", _origin(result), ""]))
    if (judged := _read("verification/seed-kernels-h200")) is not None:
        parts.append("\n".join([*last_run(judged), ""]))
    (ROOT / "eval" / "README.md").write_text("\n".join(parts), encoding="utf-8")
    folder = RESULTS / "plots"
    folder.mkdir(parents=True, exist_ok=True)
    for name, drawing in drawings(found).items():
        if drawing:
            (folder / f"{name}.svg").write_text(drawing, encoding="utf-8")
    return 0


def _read(name: str) -> Result | None:
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def _origin(result: Result) -> str:
    where = result["provenance"]
    machine, packages = where["machine"], where["packages"]
    versions = ", ".join(f"{name} {number}" for name, number in packages.items())
    return (
        f"Commit {where['commit'] or 'unknown'}, {where['date']}; {machine['processor']}, {machine['cores']} cores; "
        f"Python {where['python']}, {versions}."
    )


def _latency(result: Result) -> Iterator[str]:
    yield "## Latency over HTTP\n"
    yield "`code`: a PyTorch module. `prose`: a request that names its operations. `terse`: a note. `paraphrase`: the"
    yield "mathematics without a name of an operation. Every task is new but `id` (a known problem) and `repeated`.\n"
    yield "The last column: the search less the encoding of its whole text by the sentence model alone.\n"
    head = ("items", "task", "clients", "processes", "p50 ms", "p95 ms", "p99 ms", "queries/s", "p50 less encode, ms")
    names = ("p50_ms", "p95_ms", "p99_ms", "queries_per_second")
    yield from table(
        head,
        [
            (
                size["items"],
                cell["task"],
                cell["clients"],
                cell["workers"],
                *(cell[name] for name in names),
                _beyond(cell, size["encode"]),
            )
            for size in result["sizes"]
            for cell in size["searches"]
        ],
    )
    yield "\n### Targets\n"
    yield from table(("target", "items", "measured", "allowed", "met"), list(targets(result)))
    yield "\n### Start, memory, writes\n"
    yield "A write is visible to the first search after its answer, which waits until the indexes hold it.\n"
    rows = [
        (
            size["items"],
            size["encode"]["prose"]["p50_ms"],
            size["start_seconds"],
            size["peak_memory_mb"],
            size["write_to_visible"]["write_ms"],
            size["write_to_visible"]["first_search_ms"],
        )
        for size in result["sizes"]
    ]
    yield from table(
        ("items", "encode prose p50 ms", "start s", "peak memory MB", "write ms", "first search after it ms"), rows
    )
    yield "\n### Words of the synthetic items\n"
    real, synthetic = result["word_statistics"]["real"], result["word_statistics"]["synthetic"]
    yield from table(("", "real", "synthetic"), [(name, real[name], synthetic[name]) for name in real])
    yield "\n![p50 over corpus size](results/plots/latency.svg)"


def _beyond(cell: Result, encode: Mapping[str, Mapping[str, float]]) -> float | None:
    if cell["clients"] != 1 or cell["task"] not in encode:
        return None
    return float(cell["p50_ms"] - encode[cell["task"]]["p50_ms"])


def targets(result: Result) -> Iterator[tuple[str, int, str, str, str]]:
    """Every target of speed with what was measured: (target, items, measured, allowed, met)."""
    for size in result["sizes"]:
        cells = {(cell["task"], cell["clients"], cell["workers"]): cell for cell in size["searches"]}
        processes = max(workers for _, _, workers in cells)
        for task in ("prose", "paraphrase", "terse"):
            cell, room = cells.get((task, 1, 1)), ROOM_MS.get(size["items"])
            if cell is not None and room is not None:
                allowed = size["encode"][task]["p50_ms"] + room
                yield _judged(f"{task}: p50 at most encode + {room:g} ms", size["items"], cell["p50_ms"], allowed, "ms")
        for task in ("id", "repeated"):
            if (cell := cells.get((task, 1, 1))) is not None:
                yield _judged(f"{task}: p50 under {KNOWN_MS:g} ms", size["items"], cell["p50_ms"], KNOWN_MS, "ms")
        for task, rate in RATE_TARGETS.items():
            if size["items"] == 10_000 and (cell := cells.get((task, 8, processes))) is not None:
                found = cell["queries_per_second"]
                met = "yes" if found >= rate else "no"
                name = f"{task}: queries/s with 8 clients, {processes} processes"
                yield name, size["items"], f"{found:.0f}", f"{rate:.0f}", met


def _judged(name: str, items: int, found: float, allowed: float, unit: str) -> tuple[str, int, str, str, str]:
    return name, items, f"{found:.1f} {unit}", f"{allowed:.1f} {unit}", "yes" if found <= allowed else "no"


def _peers(result: Result) -> Iterator[str]:
    yield "## Peers\n"
    yield "The same items, sentence model and machine, in one run. Each peer's own search code runs, set so:\n"
    yield from table(("peer", "settings"), list(result["settings"].items()))
    for name, reason in result["skipped"].items():
        yield f"\nSkipped: {name} ({reason})."
    if result["quality"]:
        yield "\nnDCG@10 on the development queries (gain 2^grade - 1), no threshold, near-duplicates kept:\n"
        wordings = ("text", "terse", "code", "paraphrase", "mean")
        rows = [(row["kind"], row["engine"], *(f"{row[name]:.2f}" for name in wordings)) for row in result["quality"]]
        yield from table(("items", "engine", *wordings), rows)
    yield "\nA whole search for a new task, the four wordings in turn; queries/s with 8 threads:\n"
    names = ("p50_ms", "text_p50_ms", "terse_p50_ms", "code_p50_ms", "paraphrase_p50_ms", "queries_per_second")
    rows = [
        (speed["items"], row["engine"], *(row.get(name) for name in names))
        for speed in result["speed"]
        for row in speed["engines"]
    ]
    yield from table(("items", "engine", "p50 ms", "prose", "terse", "code", "paraphrase", "queries/s"), rows)
    yield "\n![peers: quality](results/plots/peers_quality.svg)"
    yield "![peers: speed](results/plots/peers_speed.svg)"


def _reproduction(result: Result) -> Iterator[str]:
    yield "## Reproduction of the seed documents\n"
    rows = [
        (name, f"{found['equal']} of {found['asked']}", found["tokens_median"], found["p50_ms"], found["p95_ms"])
        for name, found in result["policies"].items()
    ]
    yield from table(("policy", "equal to the byte", "tokens, median", "p50 ms", "p95 ms"), rows)
    first, second = result["imports"]
    yield (
        f"\nFirst import {first['seconds']:.1f} s ({first['embedded']} texts embedded); the same again "
        f"{second['seconds']:.1f} s ({second['written']} written, {second['embedded']} embedded)."
    )


def _quality(result: Result) -> Iterator[str]:
    """Tables of whatever lists of flat rows the file holds."""
    yield "## Quality\n"
    for name, rows in result.items():
        if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
            yield f"### {name.replace('_', ' ').capitalize()}\n"
            head = [key for key, value in rows[0].items() if not isinstance(value, dict | list)]
            yield from table(head, [[row.get(key) for key in head] for row in rows])
            yield ""


SECTIONS: Mapping[str, Callable[[Result], Iterator[str]]] = {
    "quality": _quality,
    "latency": _latency,
    "peers": _peers,
    "backends": backends,
    "load": load,
    "soak": soak,
    "admin_pages": admin_pages,
    "reproduction": _reproduction,
}


def drawings(found: Mapping[str, Result | None]) -> dict[str, str]:
    """Plot name -> SVG; empty text where there is nothing to draw."""
    drawn = {}
    if (latency := found.get("latency")) is not None:
        series: dict[str, list[tuple[float, float]]] = {}
        for size in latency["sizes"]:
            for cell in size["searches"]:
                if cell["clients"] == 1:
                    series.setdefault(cell["task"], []).append((size["items"], cell["p50_ms"]))
        drawn["latency"] = plots.lines("Search over HTTP, one client", "items", "p50, ms", series)
    if (peers := found.get("peers")) is not None:
        speed = {row["engine"]: row["queries_per_second"] for row in peers["speed"][-1]["engines"]}
        size = peers["speed"][-1]["items"]
        drawn["peers_speed"] = plots.bars(
            f"{size:,} items, 8 threads, four wordings", "queries per second (logarithmic)", speed, logarithmic=True
        )
        quality = {f"{row['engine']}, {row['kind']}": row["mean"] for row in peers["quality"]}
        drawn["peers_quality"] = plots.bars("Development queries", "nDCG@10, mean of four wordings", quality)
    return drawn


if __name__ == "__main__":
    raise SystemExit(main())
