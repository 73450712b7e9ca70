"""A bundle: kernels, problems and this package in one folder, for a GPU host without database or network.

`bundle.json` says what is to be judged and holds the hash of every file; `results.jsonl` grows by a sealed line a run.
"""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from app.errors import EditedBundle, InvalidInput
from app.verification.batch import Job, verify_many
from app.verification.candidate import Candidate
from app.verification.fingerprint import evaluator_version
from app.verification.problem import read_problem
from app.verification.protocol import Limits
from app.verification.record import RunRecord

FORMAT = "kernel-playbook-bundle-1"
MANIFEST = "bundle.json"
RESULTS = "results.jsonl"


@dataclass(frozen=True)
class Work:
    """One kernel to judge: the item's id and version when it was exported, and the files of problem and candidate."""

    item_id: str
    version: int
    problem_id: str
    problem: str
    problem_sha256: str
    candidate: str
    candidate_sha256: str
    entry_point: str


@dataclass(frozen=True)
class Manifest:
    """What `bundle.json` says. `digest` is the hash of that file itself, which every result names."""

    evaluator: str
    exported_at: str
    work: tuple[Work, ...]
    files: dict[str, str]
    digest: str

    def to_bytes(self) -> bytes:
        """The file; `digest` stays out."""
        content = {"format": FORMAT, **asdict(self)}
        del content["digest"]
        return json.dumps(content, indent=1).encode() + b"\n"


def read_manifest(raw: bytes) -> Manifest:
    """The manifest in these bytes. Raises InvalidInput for another format."""
    try:
        content = json.loads(raw)
        if content["format"] != FORMAT:
            raise InvalidInput(f"{MANIFEST} is of format {content['format']!r}, this evaluator reads {FORMAT!r}")
        work = tuple(Work(**entry) for entry in content["work"])
        files = {str(path): str(digest) for path, digest in content["files"].items()}
        return Manifest(content["evaluator"], content["exported_at"], work, files, sha256(raw))
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise InvalidInput(f"{MANIFEST} cannot be read: {fault}") from fault


def sha256(raw: bytes) -> str:
    """Hash as manifests and results state it."""
    return hashlib.sha256(raw).hexdigest()


@dataclass
class Bundle:
    """A bundle on this host. Safe for several threads."""

    folder: Path
    manifest: Manifest
    judged: dict[str, RunRecord]
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def waiting(self) -> list[Work]:
        """What is to be judged yet; a run that failed for this host's reasons is made again."""
        return [work for work in self.manifest.work if self._is_waiting(work)]

    def job(self, work: Work) -> Job:
        """The run to make."""
        raw = (self.folder / work.candidate).read_bytes()
        return Job(read_problem(self.folder / work.problem), Candidate(raw, work.item_id, work.entry_point))

    def keep(self, work: Work, record: RunRecord) -> None:
        """Append a result and bring it to the disk, so that a stop loses no run that has ended. Raises OSError."""
        line = sealed(self.manifest.digest, work.item_id, record)
        with self._lock, (self.folder / RESULTS).open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
            self.judged[work.item_id] = record

    def _is_waiting(self, work: Work) -> bool:
        record = self.judged.get(work.item_id)
        return record is None or record.verdict.is_infrastructure


def is_bundle(folder: Path) -> bool:
    """Whether the folder is an exported bundle, rather than one with a plain list of jobs."""
    try:
        return isinstance(json.loads((folder / MANIFEST).read_bytes()), dict)
    except (OSError, ValueError):
        return False


def open_bundle(folder: Path) -> Bundle:
    """A bundle with the results it has already.

    Raises InvalidInput where it cannot be read, EditedBundle where a file is not as exported.
    """
    try:
        manifest = read_manifest((folder / MANIFEST).read_bytes())
        for path, digest in manifest.files.items():
            if sha256((folder / path).read_bytes()) != digest:
                raise EditedBundle(f"{path} was edited since the export; unpack the bundle again.")
        results = folder / RESULTS
        raw = results.read_bytes() if results.exists() else b""
        whole = whole_lines(raw)
        judged = read_results(whole, manifest)
        if whole != raw:
            results.write_bytes(whole)  # The last line was cut short by a stop; its run is made again.
    except OSError as fault:
        raise InvalidInput(f"the bundle {folder.name} cannot be read: {fault}") from fault
    return Bundle(folder, manifest, judged)


def judge_bundle(
    bundle: Bundle,
    device: str | Sequence[str],
    limits: Limits | None = None,
    workers: int | None = None,
    on_record: Callable[[Work, RunRecord], None] = lambda _work, _record: None,
    on_phase: Callable[[Work, str], None] = lambda _work, _phase: None,
) -> list[RunRecord]:
    """Judge what is waiting and keep each result as it comes; the records of everything that has one by now.

    Raises EditedBundle where this evaluator is not the one that the bundle was exported with, OSError on a full disk.
    """
    if bundle.manifest.evaluator != evaluator_version():
        raise EditedBundle(
            f"This evaluator is {evaluator_version()}, the bundle needs {bundle.manifest.evaluator}: start its run.sh."
        )
    waiting = bundle.waiting

    def keep(index: int, record: RunRecord) -> None:
        bundle.keep(waiting[index], record)
        on_record(waiting[index], record)

    verify_many(
        [bundle.job(work) for work in waiting],
        device,
        limits,
        workers=workers,
        on_record=keep,
        on_phase=lambda index, phase: on_phase(waiting[index], phase),
    )
    return [bundle.judged[work.item_id] for work in bundle.manifest.work if work.item_id in bundle.judged]


def sealed(digest: str, item_id: str, record: RunRecord) -> bytes:
    """One line of results: the run, the bundle it belongs to, and a seal over both."""
    content = {"bundle": digest, "item_id": item_id, "record": record.to_json()}
    return json.dumps({**content, "seal": _seal(content)}).encode() + b"\n"


def whole_lines(raw: bytes) -> bytes:
    """Results without a last line that a stop has cut short."""
    return raw[: raw.rfind(b"\n") + 1]


def read_results(raw: bytes, manifest: Manifest) -> dict[str, RunRecord]:
    """Item id -> its last run. Raises EditedBundle for a line that is not as it was written or of another bundle."""
    found: dict[str, RunRecord] = {}
    ordered = {work.item_id for work in manifest.work}
    for number, line in enumerate(raw.splitlines(), start=1):
        place = f"{RESULTS}, line {number}"
        try:
            content = json.loads(line)
            seal = content.pop("seal")
            item_id, record = content["item_id"], RunRecord.from_json(content["record"])
        except (ValueError, KeyError, TypeError, AttributeError, InvalidInput) as fault:
            raise EditedBundle(f"{place} is no result of a run: {fault}") from fault
        if content.get("bundle") != manifest.digest:
            raise EditedBundle(f"{place} belongs to another bundle, or {MANIFEST} was edited after the run.")
        if seal != _seal(content):
            raise EditedBundle(f"{place} was edited: its seal does not fit.")
        if item_id not in ordered:
            raise EditedBundle(f"{place} judges {item_id}, which the bundle does not order.")
        found[item_id] = record
    return found


def _seal(content: dict[str, Any]) -> str:
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())
