"""What a large playbook needs, computed from the result files; renders docs/sizing.md. No figure is written by hand.

Run: python -m eval.sizing [--measure]. With --measure the bytes on the disk are measured first, into
eval/results/storage.json.
"""

import argparse
import json
import math
import tempfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.retrieval.embedder import chosen_embedder
from app.services.backup import back_up
from app.services.verifying import outcome_of
from app.settings import Settings
from app.store.database import Database
from app.verification import CPU_LIMITS, Candidate, read_problem, verify
from app.vocabulary import EmbedderName
from eval.originals import imported
from eval.provenance import RESULTS, ROOT, write
from eval.synthetic import Generator, fill

ITEMS, KERNELS, GPUS = 1_000_000, 10_000, 64
"""The size that the page is about."""

NIGHT_HOURS = 8
PAGE = ROOT / "docs" / "sizing.md"
_STORED = (2_000, 10_000)
_GIB = 2**30
_MINILM_DIMENSION = 384

Result = Mapping[str, Any]


def main() -> int:
    """Measures where asked, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true")
    if parser.parse_args().measure:
        write("storage", measured_storage())
    PAGE.write_text(rendered(), encoding="utf-8")
    return 0


def rendered() -> str:
    """The page as the result files have it."""
    lines = page(_read("latency"), _read("storage"), _read("verification/seed-kernels-h200"))
    return "\n".join(lines).rstrip("\n") + "\n"


def measured_storage() -> dict[str, Any]:
    """Bytes of a SQLite database with synthetic items, and of one run's row as JSON."""
    name = EmbedderName.HASH.value
    embedder = chosen_embedder(Settings(embedder=EmbedderName.HASH))
    sizes = []
    with tempfile.TemporaryDirectory() as folder:
        originals = imported(Path(folder) / "base", embedder, name)
        for count in _STORED:
            settings = Settings(var_dir=Path(folder) / str(count), embedder=EmbedderName.HASH, database_url="")
            imported(settings.var_dir, embedder, name)
            database = Database(settings)
            fill(database, embedder.model_id, Generator(originals), count)
            sizes.append({"items": count, "bytes": back_up(database, Path(folder) / f"{count}.copy")})
            database.dispose()
    return {"sqlite": sizes, "vector_dimension": embedder.dimension, "run_bytes": _run_bytes()}


def _run_bytes() -> int:
    """Bytes of the JSON columns of a run in the interpreter, evidence included."""
    problem = read_problem(ROOT / "bullets" / "problems" / "softmax_temperature.py")
    text = (ROOT / "bullets" / "kernels" / "softmax-temperature.md").read_text(encoding="utf-8")
    source = text.split("```python\n")[1].split("\n```")[0]
    kept = outcome_of(verify(problem, Candidate(source.encode()), "cpu", CPU_LIMITS))
    return len(json.dumps(kept.figures)) + len(json.dumps(kept.fingerprint))


def slope(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Line through the smallest and the largest point: (value at 0, growth per unit of x)."""
    (x0, y0), (x1, y1) = min(points), max(points)
    growth = (y1 - y0) / (x1 - x0)
    return y0 - growth * x0, growth


def page(latency: Result, storage: Result, kernels: Result) -> Iterator[str]:
    """The page, line by line."""
    sizes = sorted(latency["sizes"], key=lambda size: int(size["items"]))
    largest = sizes[-1]["items"]
    yield "# Sizing"
    yield ""
    yield from _prose(
        "Rendered by `python -m eval.sizing` from the files in `eval/results`, each of which names its commit and its",
        f"machine. It asks what {ITEMS:,} items, {KERNELS:,} kernels and {GPUS} GPUs need.",
    )
    yield from _prose(
        "**Measured** is what ran. **Extrapolated** is a straight line through the smallest and the largest measured",
        f"size, drawn {ITEMS / largest:,.0f} times beyond the largest one ({largest:,} items): a plan to",
        "begin with, not a",
        "promise. Nothing larger was run.",
    )
    yield from _memory(sizes)
    yield from _searches(sizes)
    yield from _disk(storage)
    yield from _night(kernels)


def _prose(*parts: str) -> Iterator[str]:
    """A paragraph in lines of equal length, and an empty line."""
    yield from textwrap.wrap(" ".join(parts), 118, break_on_hyphens=False)
    yield ""


def _memory(sizes: Sequence[Result]) -> Iterator[str]:
    base, each = slope([(s["items"], s["peak_memory_mb"]) for s in sizes])
    start, start_each = slope([(s["items"], s["start_seconds"]) for s in sizes])
    yield "## Each api process"
    yield ""
    yield "| items | peak memory MB | start s | |"
    yield "|---|---|---|---|"
    for size in sizes:
        yield f"| {size['items']:,} | {size['peak_memory_mb']:,.0f} | {size['start_seconds']:.1f} | measured |"
    memory, seconds = base + each * ITEMS, start + start_each * ITEMS
    yield f"| {ITEMS:,} | {memory:,.0f} | {seconds:,.0f} | extrapolated |"
    yield ""
    yield from _prose(
        f"A process takes {base:,.0f} MB with the sentence model and {each * 1024:.1f} KB more for each",
        "item; every process",
        f"holds the whole corpus. For {ITEMS:,} items plan {1.5 * memory / 1024:.0f} GiB a process: half",
        "as much again for",
        "the moment in which a new snapshot is built beside the old one, which is an assumption. Few processes on many",
        "cores need less memory than many on few.",
    )


def _searches(sizes: Sequence[Result]) -> Iterator[str]:
    yield "## A search"
    yield ""
    yield from _prose(
        "Median of one client at a time, over HTTP, on the machine of the result file, encoding of the text included."
    )
    measured = " | ".join(f"{size['items']:,} items, ms" for size in sizes)
    yield f"| task | {measured} | {ITEMS:,} items, ms (extrapolated) |"
    yield "|---|" + "---|" * (len(sizes) + 1)
    for task in dict.fromkeys(cell["task"] for cell in sizes[0]["searches"]):
        points = [(size["items"], _median(size, task)) for size in sizes]
        base, each = slope(points)
        # A line that falls is noise between two runs, no gain from size.
        last = f"{base + each * ITEMS:,.0f}" if each > 0 else "no growth seen"
        yield f"| {task} | " + " | ".join(f"{value:.1f}" for _, value in points) + f" | {last} |"
    yield ""
    best = max(cell["queries_per_second"] for cell in sizes[-1]["searches"])
    yield from _prose(
        f"At {sizes[-1]['items']:,} items one process answered up to {best:.0f} searches a second.",
        "Processes share nothing but",
        "the database. For a size that was not measured, measure it: `python -m eval.latency --sizes N`.",
    )


def _median(size: Result, task: str) -> float:
    return min(float(cell["p50_ms"]) for cell in size["searches"] if cell["task"] == task and cell["clients"] == 1)


def _disk(storage: Result) -> Iterator[str]:
    entries, run_bytes = storage["sqlite"], storage["run_bytes"]
    base, each = slope([(entry["items"], entry["bytes"]) for entry in entries])
    wider = 4 * (_MINILM_DIMENSION - storage["vector_dimension"])
    sizes = " and ".join(f"{entry['items']:,}" for entry in entries)
    yield "## The database"
    yield ""
    yield "| what | bytes each | |"
    yield "|---|---|---|"
    dimension = storage["vector_dimension"]
    yield f"| item with text, record and a vector of {dimension} | {each:,.0f} | measured at {sizes} items |"
    yield f"| the same with MiniLM's vector of {_MINILM_DIMENSION} | {each + wider:,.0f} | computed |"
    yield f"| verification run in the interpreter, evidence included | {run_bytes:,} | measured |"
    yield ""
    yield from _prose(
        f"Extrapolated: {ITEMS:,} items take {(base + (each + wider) * ITEMS) / _GIB:.1f} GiB, without",
        "history, feedback and",
        f"what was shown; {KERNELS:,} kernels judged every night for a year leave",
        f"{KERNELS * 365 * run_bytes / _GIB:.0f} GiB of",
        "runs. A run on a GPU is larger: it keeps up to 60 rounds of readings and 60 names of kernels.",
        "A backup takes as",
        "much again. These are SQLite's bytes; PostgreSQL's were not measured.",
    )


def _night(kernels: Result) -> Iterator[str]:
    batches = [(batch["seconds"], batch["judged"]) for batch in kernels["batches"] if len(batch["devices"]) == 1]
    seconds = max(total / count for total, count in batches)
    alone = KERNELS * seconds / 3600
    gpu = kernels["batches"][0]["provenance"]["gpu"]
    yield "## A night"
    yield ""
    for total, count in batches:
        rate = f"{total / count:.1f} s a kernel, torch.compile included"
        yield f"- measured: {count} kernels on one {gpu} in {total:.0f} s, {rate}"
    yield f"- extrapolated: {KERNELS:,} kernels take {alone:.1f} GPU hours"
    yield f"- on {GPUS} GPUs, each with as many host cores as the measured one: {60 * alone / GPUS:.0f} minutes"
    yield f"- GPUs for a night of {NIGHT_HOURS} hours: {max(1, math.ceil(alone / NIGHT_HOURS))}"
    yield ""
    yield from _prose(
        "The measured kernels have the sizes of KernelBench; larger problems take longer. Compilation",
        "runs on the host:",
        "eight kernels were side by side there. How several GPUs of one host share its cores is not",
        "part of these figures.",
    )


def _read(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


if __name__ == "__main__":
    raise SystemExit(main())
