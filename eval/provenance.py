"""Where a figure comes from: commit, machine, versions, date. Every result file carries this."""

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "eval" / "results"
SHARED = ROOT.parent / "shared"
_PACKAGES = ("torch", "sentence-transformers", "faiss-cpu", "numpy", "fastapi", "SQLAlchemy")
_PEERS = ("mem0ai", "ace-framework", "bm25s", "rank-bm25", "qdrant-client", "fastembed")


def provenance() -> dict[str, Any]:
    """Commit (with `+` where the tree has changes), machine, package versions and the date in UTC."""
    return {
        "commit": _commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"processor": _processor(), "cores": os.cpu_count(), "system": platform.platform()},
        "python": platform.python_version(),
        "packages": {name: found for name in _PACKAGES + _PEERS if (found := _version(name)) is not None},
    }


def write(name: str, result: dict[str, Any]) -> Path:
    """Writes a result with its provenance to eval/results/<name>.json."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"provenance": provenance(), **result}, indent=1) + "\n", encoding="utf-8")
    return path


def _commit() -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()

    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "app", "eval") else "")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
