"""Writes a verification bundle: kernels, their problems and the evaluator as files."""

import io
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import app
from app.errors import Conflict, InvalidInput, UnknownItem, UnreadableImport
from app.records import Item
from app.services.verifying import problem_file
from app.store import corpus
from app.store.database import Database
from app.verification import read_problem
from app.verification.bundle import MANIFEST, Manifest, Work, sha256
from app.verification.fingerprint import evaluator_version

_START = """#!/bin/sh
# Judges the kernels of this bundle; needs Python 3.11 or newer, torch and triton. A second start goes on where the
# first one stopped. Options: --gpu N, --cpu, --workers N, --no-compile.
cd "$(dirname "$0")" || exit 1
PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1 exec "${PYTHON:-python3}" -m app.verification --bundle . "$@"
"""


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote: the kernels in it, and those whose problem's file is not at hand."""

    item_ids: list[str]
    left_out: list[str]


def export_bundle(
    database: Database, target: Path, item_ids: Sequence[str] | None, folders: Iterable[Path]
) -> Exported:
    """Writes a bundle of the named kernels, or of all active ones, as a new folder or, for `*.tar`, as an archive."""
    if target.exists():
        raise Conflict(f"{target} is there already; name a new folder or archive.")
    with database.read() as session:
        found = {item.id: item for item in corpus.items_since(session, -1) if item.kernel is not None}
        problems = corpus.facts(session).problems
    missing = [item_id for item_id in item_ids or () if item_id not in found]
    if missing:
        raise UnknownItem(f"There is no kernel {', '.join(missing)}.")
    chosen = (
        [found[item_id] for item_id in item_ids] if item_ids is not None else [i for i in found.values() if i.shown]
    )
    places = [(item, problem_file(problems.get(item.source_problem or ""), list(folders))) for item in chosen]
    ready = [(item, path) for item, path in places if path is not None]
    if not ready:
        raise InvalidInput("No kernel's problem file is in any folder given; name its folder with --problems.")
    _write(target, _files(ready))
    return Exported([item.id for item, _ in ready], [item.id for item, path in places if path is None])


def _files(ready: Sequence[tuple[Item, Path]]) -> dict[str, bytes]:
    """Path in the bundle -> content: the evaluator, the problems, the kernels, and how they belong together."""
    package = Path(app.__file__).parent
    code = [package / name for name in ("__init__.py", "errors.py", "vocabulary.py")]
    code += sorted((package / "verification").glob("*.py"))
    files = {f"app/{path.relative_to(package).as_posix()}": path.read_bytes() for path in code}
    files["run.sh"] = _START.encode()
    work = []
    for number, (item, path) in enumerate(ready, start=1):
        assert item.kernel is not None
        known, raw = read_problem(path), item.kernel.source.encode()
        # A KernelBench problem is known by the name of its folder.
        folder = f"problems/{path.parent.name}" if known.level is not None else "problems"
        problem, candidate = f"{folder}/{path.name}", f"kernels/{number:05d}.py"
        files[problem], files[candidate] = path.read_bytes(), raw
        entry = item.source_problem or "", problem, known.sha256, candidate, sha256(raw), item.kernel.entry_point
        work.append(Work(item.id, item.version, *entry))
    hashes = {path: sha256(content) for path, content in files.items()}
    exported_at = datetime.now(UTC).isoformat(timespec="seconds")
    files[MANIFEST] = Manifest(evaluator_version(), exported_at, tuple(work), hashes, "").to_bytes()
    return files


def _write(target: Path, files: Mapping[str, bytes]) -> None:
    try:
        if target.suffix == ".tar":
            with tarfile.open(target, "x") as archive:
                for path, content in files.items():
                    entry = tarfile.TarInfo(f"{target.stem}/{path}")
                    entry.size, entry.mode = len(content), 0o755 if path == "run.sh" else 0o644
                    archive.addfile(entry, io.BytesIO(content))
            return
        for path, content in files.items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_bytes(content)
        (target / "run.sh").chmod(0o755)
    except OSError as fault:
        raise UnreadableImport(f"{target} cannot be written: {fault.strerror or fault}.") from fault
