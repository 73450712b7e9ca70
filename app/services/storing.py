"""Stores one imported document: all of it in one transaction, and nothing that is already there."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from app.memory.drafts import DocumentDraft
from app.memory.merging import Change, Known, Merger
from app.records import CounterEvent, LineFault, Reader, Revision, Run
from app.services.bundled import curated_records
from app.services.settling import settle
from app.store import corpus, facts, history, items, redirects
from app.store.database import Database, Session
from app.vocabulary import RevisionReason

IMPORTER = "import"
"""Actor of everything that an import does."""


@dataclass(slots=True)
class Stored:
    """What an import wrote, and what it could not take."""

    added: int = 0
    changed: int = 0
    facts: int = 0
    faults: list[LineFault] = field(default_factory=list)

    @property
    def written(self) -> int:
        """Rows added or changed."""
        return self.added + self.changed + self.facts


class _DryRun(Exception):
    """Ends a transaction without effect."""


def store_document(
    database: Database, document: DocumentDraft, *, by: str | None = None, dry_run: bool = False
) -> Stored:
    """Writes what is new or different in one transaction; `dry_run` tells what that would be and writes nothing."""
    stored = Stored(faults=list(document.faults))
    try:
        with database.write() as session:
            _store(session, document, stored, f"imported by {by}" if by else None)
            if dry_run:
                raise _DryRun
    except _DryRun:
        pass
    return stored


def _store(session: Session, document: DocumentDraft, stored: Stored, note: str | None) -> None:
    """Facts first, then items, then what refers to items."""
    now = datetime.now(UTC)
    corpus.lock(session)
    writers = sorted({item.writer for item in document.items if item.writer})
    stored.facts += facts.put_problems(session, document.problems)
    stored.facts += facts.put_readers(session, [*document.readers, *(Reader(name) for name in writers)])
    items.note_ids(session, [item.id for item in document.items if item.id])
    merger = Merger(document, _known(session), lambda kind: items.next_id(session, kind.id_prefix), now)
    plan = merger.plan()
    stored.faults.extend(plan.faults)
    told = {revision.item_id for revision in document.revisions}
    if plan.changes:
        version = corpus.advance(session)
        for change in plan.changes:
            _write(session, change, version, now, note, told=change.item.id in told)
            stored.added += change.before is None
            stored.changed += change.before is not None
    stored.facts += _store_past(session, document, stored)
    stored.facts += _store_references(session, document, stored)
    if stored.facts:
        corpus.advance(session, facts=True)


def _known(session: Session) -> Known:
    return Known(
        items={item.id: item for item in corpus.items_since(session, -1)},
        source_hashes=items.source_hashes(session),
        imported_votes=history.sums(session, actor=IMPORTER),
        problems=corpus.facts(session).problems,
        curated=curated_records(),
    )


def _write(session: Session, change: Change, version: int, now: datetime, note: str | None, *, told: bool) -> None:
    """Writes one change; its revision is written here unless the document tells the item's history itself."""
    item, before = change.item, change.before
    if before is None:
        items.add(session, item, changed_in=version, source_hash=change.source_hash)
    else:
        if item != before:
            item = replace(item, version=max(item.version, before.version + 1), updated_at=now)
        items.change(session, item, changed_in=version, source_hash=change.source_hash)
    if not told and (before is None or item.version != before.version):
        state = history.state_of(item)
        revision = Revision(item.id, item.version, RevisionReason.IMPORT, IMPORTER, now, state, note)
        history.add_revision(session, revision)
    helpful, harmful = change.votes
    if helpful or harmful:
        uid = str(uuid.uuid4())
        event = CounterEvent(uid, item.id, helpful, harmful, IMPORTER, now, reason="counted by the source")
        history.add_event(session, event)
        session.flush()
        items.move_counters(session, item.id, helpful=helpful, harmful=harmful, changed_in=version)


def _store_past(session: Session, document: DocumentDraft, stored: Stored) -> int:
    """Revisions, counter events and redirects that a complete export tells of; the number of rows written."""
    known = facts.known_ids(session)
    told = {revision.item_id for revision in document.revisions} | {event.item_id for event in document.events}
    lost = sorted((told | set(document.redirects.values())) - known)
    for item_id in lost:
        reason = f"the history of {item_id} was not taken: there is no such item"
        stored.faults.append(LineFault(document.file, 0, reason))
    written = history.put_revisions(session, [entry for entry in document.revisions if entry.item_id in known])
    fresh = history.unknown_events(session, [entry for entry in document.events if entry.item_id in known])
    if fresh:
        version = corpus.advance(session)
        for event in fresh:
            history.add_event(session, replace(event, feedback_id=None))
            items.move_counters(
                session, event.item_id, helpful=event.helpful, harmful=event.harmful, changed_in=version
            )
    present = redirects.every(session)
    for from_id, to_id in document.redirects.items():
        if {from_id, to_id} <= known and present.get(from_id) != to_id:
            redirects.add(session, from_id, to_id, None)
            written += 1
    return written + len(fresh)


def _store_references(session: Session, document: DocumentDraft, stored: Stored) -> int:
    """Baselines, rankings, runs and wording; what refers to something unknown is a fault, not a loss in silence."""
    problems = corpus.facts(session).problems
    item_ids = facts.known_ids(session)

    def refers(what: str, problem: str | None, *ids: str) -> bool:
        missing = [item_id for item_id in ids if item_id not in item_ids]
        missing += [problem] if problem is not None and problem not in problems else []
        if missing:
            reason = f"{what} names what is not here: {', '.join(missing)}; import that first"
            stored.faults.append(LineFault(document.file, 0, reason))
        return not missing

    baselines = [b for b in document.baselines if refers(f"a baseline of {b.reader}", b.problem)]
    rankings = [r for r in document.rankings if refers(f"a ranking of {r.source}", r.problem, *r.item_ids)]
    runs = [run for run in document.runs if refers(f"run {run.id}", None, run.item_id or "")]
    return (
        facts.put_baselines(session, baselines)
        + facts.put_rankings(session, rankings)
        + _store_runs(session, runs)
        + facts.put_wording(session, document.wording)
    )


def _store_runs(session: Session, runs: Sequence[Run]) -> int:
    """Runs, and what new ones do to the standing of their kernels."""
    written = facts.put_runs(session, runs)
    if written:
        for item_id, hardware in sorted({(run.item_id or "", run.hardware) for run in runs}):
            settle(session, item_id, hardware)
    return written
