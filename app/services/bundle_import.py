"""Takes a bundle back: its runs are held against the database and their own evidence, and stored."""

import hashlib
import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.errors import EditedBundle, InvalidInput, UnreadableImport
from app.memory.identity import content_hash
from app.records import Item, Problem, Run
from app.services.settling import settle
from app.services.verifying import stored_run
from app.store import corpus, facts, history, items
from app.store.database import Database, Session
from app.verification import RunRecord
from app.verification.bundle import MANIFEST, RESULTS, Manifest, Work, read_manifest, read_results, sha256, whole_lines
from app.verification.fingerprint import evaluator_version
from app.verification.rejudge import contradiction
from app.vocabulary import Verdict

_LARGEST_PART = 2**30
"""Bytes of a manifest or of results inside an archive; more is no bundle of ours."""


@dataclass(slots=True)
class Imported:
    """What an import stored. `apart` are runs of code that the kernel no longer has: item id -> why."""

    stored: list[Run] = field(default_factory=list)
    known: int = 0
    apart: dict[str, str] = field(default_factory=dict)
    not_judged: list[str] = field(default_factory=list)


def import_bundle(database: Database, path: Path) -> Imported:
    """Stores the runs of a bundle that was judged elsewhere, all of them or none; a second time stores nothing.

    EditedBundle where a part is not as it was written, or contradicts what the database knows.
    """
    manifest_raw, results_raw = _received(path)
    try:
        manifest = read_manifest(manifest_raw)
    except InvalidInput as fault:
        raise UnreadableImport(fault.detail) from fault
    if manifest.evaluator != evaluator_version():
        raise EditedBundle(
            f"The bundle was judged by evaluator {manifest.evaluator}, this playbook has {evaluator_version()}. "
            "Runs of different evaluators do not compare: export and run it again."
        )
    records = read_results(whole_lines(results_raw), manifest)
    done = Imported(not_judged=[work.item_id for work in manifest.work if work.item_id not in records])
    with database.write() as session:
        corpus.lock(session)
        problems = corpus.facts(session).problems
        judged = [(work, records[work.item_id]) for work in manifest.work if work.item_id in records]
        runs = [_checked(session, problems, manifest, work, record, done) for work, record in judged]
        fresh = [run for run in runs if not facts.is_run(session, run.id)]
        done.stored, done.known = fresh, len(runs) - len(fresh)
        if facts.put_runs(session, fresh):
            for run in fresh:
                settle(session, run.item_id or "", run.hardware)
            corpus.advance(session, facts=True)
    return done


def _checked(
    session: Session, problems: Mapping[str, Problem], manifest: Manifest, work: Work, record: RunRecord, done: Imported
) -> Run:
    """The run as it is stored, once everything it says of kernel, problem and evaluator holds."""
    told = {
        "kernel": (record.candidate.get("name"), work.item_id),
        "code": (record.candidate.get("sha256"), work.candidate_sha256),
        "entry point": (record.candidate.get("entry_point"), work.entry_point),
        "problem": (record.problem.get("sha256"), work.problem_sha256),
        "evaluator": (record.fingerprint.get("evaluator"), manifest.evaluator),
    }
    wrong = [name for name, (said, ordered) in told.items() if said != ordered]
    if wrong:
        raise EditedBundle(f"The run of {work.item_id} names another {', '.join(wrong)} than the bundle ordered.")
    reason = contradiction(record)
    if reason:
        raise EditedBundle(f"The run of {work.item_id} contradicts itself: {reason}.")
    problem = problems.get(work.problem_id)
    if problem is None or problem.sha256 not in (None, work.problem_sha256):
        raise EditedBundle(f"The problem {work.problem_id} of {work.item_id} is another one than this playbook knows.")
    item = items.get(session, work.item_id)
    if item is None:
        raise EditedBundle(f"There is no kernel {work.item_id} here: the bundle is of another playbook.")
    run = _arrived(item, record)
    if item.source_problem != work.problem_id:
        moved = f"the kernel belonged to {work.problem_id} when it was exported, now to {item.source_problem}"
        done.apart[item.id] = moved
        return _kept_apart(run, moved)
    code, since = _judged_code(session, item, work)
    if since:
        done.apart[item.id] = since
    # A run of code that the kernel no longer has says nothing of it: its hash tells.
    return replace(run, content_hash=content_hash(code))


def _judged_code(session: Session, item: Item, work: Work) -> tuple[str, str]:
    """The code that was judged, and why it is not the kernel's present one; empty where it is."""
    if item.kernel is not None and _code_hash(item.kernel.source) == work.candidate_sha256:
        return item.kernel.source, ""
    for revision in history.revisions(session, item.id):
        source = revision.state.get("kernel_source")
        if source and _code_hash(source) == work.candidate_sha256:
            return source, f"the code is that of version {revision.version}, the kernel is at version {item.version}"
    raise EditedBundle(f"The code that was judged as {item.id} is no code that this kernel ever had.")


def _arrived(item: Item, record: RunRecord) -> Run:
    """The row of a run that was made elsewhere. Its id is made of its content, so that it is stored once."""
    content = json.dumps([item.id, record.to_json()], sort_keys=True)
    try:
        ended = datetime.fromisoformat(record.started_at) + timedelta(seconds=record.seconds)
    except (ValueError, TypeError, OverflowError) as fault:
        raise EditedBundle(f"The run of {item.id} does not say when it was made.") from fault
    # A clock that is ahead there must not make a run the latest one for ever.
    now = datetime.now(UTC)
    finished_at = min(ended.astimezone(UTC) if ended.tzinfo else now, now)
    run_id = f"run-{hashlib.sha256(content.encode()).hexdigest()[:32]}"
    return replace(stored_run(item, record), id=run_id, finished_at=finished_at)


def _kept_apart(run: Run, reason: str) -> Run:
    """A run on another problem, kept whole under a verdict that says nothing about the kernel as it is."""
    kept = {
        "detail": reason,
        "flags": ["on_former_problem"],
        "on_former_problem": {"verdict": run.verdict, **(run.figures or {})},
    }
    return replace(run, verdict=Verdict.CANCELLED.value, speedup=None, figures=kept, content_hash=None)


def _received(path: Path) -> tuple[bytes, bytes]:
    """Manifest and results of a folder or an archive. Nothing of an archive is unpacked."""
    try:
        if path.is_dir():
            return (path / MANIFEST).read_bytes(), (path / RESULTS).read_bytes()
        parts: dict[str, bytes] = {}
        with tarfile.open(path) as archive:
            for member in archive:
                name = member.name.removeprefix("./").split("/")
                if member.isfile() and len(name) <= 2 and name[-1] in (MANIFEST, RESULTS):
                    file = archive.extractfile(member)
                    if file is None or member.size > _LARGEST_PART:
                        raise UnreadableImport(f"{path}: {member.name} is larger than any bundle's.")
                    parts[name[-1]] = file.read()
        return parts[MANIFEST], parts[RESULTS]
    except KeyError as fault:
        raise UnreadableImport(f"{path}: the archive holds no {fault.args[0]}; was the bundle run?") from fault
    except (OSError, tarfile.TarError) as fault:
        raise UnreadableImport(f"{path}: no bundle with results: {fault}. Run it first (run.sh).") from fault


def _code_hash(source: str) -> str:
    return sha256(source.encode())
