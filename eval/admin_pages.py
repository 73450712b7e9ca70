"""Server time of every page of the curator's desk, at so many synthetic items.

Run: python -m eval.admin_pages [--items 10000]. Prints a table and writes eval/results/admin_pages.json. A real server
answers over loopback; a page's time is from the request to its last byte, the first one of each page aside. The target
is 300 ms a page at 10,000 items.
"""

import argparse
import re
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from app.retrieval.embedder import chosen_embedder
from app.services.assembly import assembled
from app.services.findings import lint
from app.services.keys import create_key
from app.settings import Settings
from app.vocabulary import EmbedderName, Scope
from eval.originals import imported, opened
from eval.percentiles import percentile
from eval.provenance import write
from eval.server import running
from eval.synthetic import Generator, fill

TARGET_MS = 300
_TOKEN = re.compile(r'name="csrf" value="([^"]+)"')
_TASK = {"task": "convT3d bn avgpool", "policy": "search", "other_policy": "verified"}


def main() -> int:
    """Measures every page and writes the result; exit status 1 if a page is slower than the target or fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--embedder", default="hash")
    asked = parser.parse_args()
    embedder = chosen_embedder(Settings(embedder=EmbedderName(asked.embedder)))
    with tempfile.TemporaryDirectory() as folder:
        base, filled = Path(folder) / "base", Path(folder) / "filled"
        originals = imported(base, embedder, asked.embedder)
        shutil.copytree(base, filled)
        database = opened(filled, asked.embedder)
        fill(database, embedder.model_id, Generator(originals), asked.items - len(originals.items))
        key = create_key(database, "benchmark", [Scope.ADMIN]).key
        database.dispose()
        services = assembled(Settings(var_dir=filled, embedder=EmbedderName(asked.embedder)))
        findings = len(lint(services.database, services.catalog))
        services.close()
        with running(filled, asked.embedder) as server:
            rows = _measure(server.url, key, asked.rounds)
    result = {"items": asked.items, "open_findings": findings, "target_ms": TARGET_MS, "pages": rows}
    write("admin_pages", result)
    for row in rows:
        print(f"{row['page']:<44} {row['status']} p50 {row['p50_ms']:7.1f} ms  max {row['max_ms']:7.1f} ms")
    return 1 if any(row["p50_ms"] > TARGET_MS or row["status"] != 200 for row in rows) else 0


def _measure(url: str, key: str, rounds: int) -> list[dict[str, Any]]:
    with httpx.Client(base_url=url, timeout=60, follow_redirects=True) as client:
        form = {"csrf": _token(client, "/admin/sign-in"), "key": key}
        client.post("/admin/sign-in", data=form)
        listed = client.get("/admin/kernels").text
        kernel = re.findall(r"/admin/kernels/([a-z]+-\d+)", listed)[0]
        item = re.findall(r"/admin/items/([a-z]+-\d+)", client.get("/admin/items?kind=bullet").text)[0]
        rows = [_timed(client, path, rounds) for path in _pages(item, kernel)]
        rows.append(_timed(client, "/admin/playground", rounds, {"csrf": _token(client, "/admin"), **_TASK}))
    return rows


def _pages(item: str, kernel: str) -> list[str]:
    lists = ["/admin/items", "/admin/items?sort=helpful&page=20", "/admin/items?q=softmax&how=words"]
    lists.append("/admin/items?q=transposed+convolution+and+batch+norm")
    own = [f"/admin/items/{item}", f"/admin/items/{item}/edit", "/admin/items/new", f"/admin/kernels/{kernel}"]
    rest = ["kernels", "nights", "findings", "playground", "readers", "keys", "exchange"]
    return ["/admin", *lists, *own, *(f"/admin/{name}" for name in rest)]


def _timed(client: httpx.Client, path: str, rounds: int, form: dict[str, str] | None = None) -> dict[str, Any]:
    times, status = [], 0
    for _ in range(rounds + 1):
        began = time.perf_counter()
        answer = client.get(path) if form is None else client.post(path, data=form)
        times.append((time.perf_counter() - began) * 1000)
        status = answer.status_code
    name = path if form is None else f"{path} (a task, two policies)"
    p95, most = percentile(times[1:], 0.95), max(times[1:])
    figures = {"p50_ms": round(median(times[1:]), 1), "p95_ms": round(p95, 1), "max_ms": round(most, 1)}
    return {"page": name, "status": status, "first_ms": round(times[0], 1), **figures}


def _token(client: httpx.Client, path: str) -> str:
    found = _TOKEN.search(client.get(path).text)
    if found is None:
        raise RuntimeError(f"{path} has no form")
    return found[1]


if __name__ == "__main__":
    raise SystemExit(main())
