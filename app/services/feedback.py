"""Takes feedback: votes on items that a reader was shown, counted once and exactly."""

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.errors import Conflict, InvalidInput
from app.memory.identity import content_hash
from app.retrieval.embedder import Embedder
from app.services.changes import Changes
from app.store import feedback, items, redirects
from app.store.database import Database, Session
from app.vocabulary import Signal

CITED = re.compile(r"\b[a-z]{2,8}-\d{5}\b")
"""How an answer cites an item: `str-00012`, `[mem-00035]`."""

MOST_VOTES = 1000


@dataclass(frozen=True, slots=True)
class Vote:
    """What a reader says of one item."""

    id: str
    signal: Signal


@dataclass(frozen=True, slots=True)
class FeedbackWish:
    """A piece of feedback."""

    votes: Sequence[Vote]
    actor: str
    reader: str | None = None
    context_id: str | None = None
    task: Mapping[str, Any] | None = None
    outcome: Mapping[str, Any] | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class FeedbackAnswer:
    """What became of it."""

    feedback_id: str
    applied: tuple[tuple[str, int, int], ...]
    """(id, helpful, harmful) after the vote; of a cited item that was merged away, the one that lives on."""
    unknown_ids: tuple[str, ...] = ()
    duplicate: bool = False
    notes: tuple[str, ...] = field(default=())


def cited_votes(answer: str, signal: Signal) -> list[Vote]:
    """One vote for each item that an agent's answer cites."""
    return [Vote(item_id, signal) for item_id in dict.fromkeys(CITED.findall(answer.lower()))]


def give(database: Database, embedder: Embedder, wish: FeedbackWish) -> FeedbackAnswer:
    """Counts the votes once: in one transaction, and never again for the same key or the same words on one context.

    Known ids are counted, unknown ones are listed. Conflict where a key comes back with other words.
    """
    votes = _distinct(wish.votes)
    body = _body(wish, votes)
    key = wish.idempotency_key or (f"context:{wish.context_id}:{body}" if wish.context_id else None)
    with database.write() as session:
        changes = Changes(session, embedder, wish.actor)
        feedback_id = f"fb-{uuid.uuid4().hex}"
        if not feedback.claim(session, feedback_id, key, body, wish.actor, changes.now):
            return _given_before(session, key or "", body)
        answer = _counted(changes, wish, votes, feedback_id)
        feedback.complete(
            session,
            feedback_id,
            {
                "context_id": wish.context_id,
                "reader": wish.reader,
                "task": dict(wish.task) if wish.task else None,
                "outcome": dict(wish.outcome) if wish.outcome else None,
                "answer": {
                    "feedback_id": feedback_id,
                    "applied": [list(entry) for entry in answer.applied],
                    "unknown_ids": list(answer.unknown_ids),
                    "notes": list(answer.notes),
                },
            },
        )
    return answer


def _distinct(votes: Sequence[Vote]) -> list[Vote]:
    """Each item once; InvalidInput where one is called helpful and harmful at once."""
    if not votes:
        raise InvalidInput("There is no vote: send items with a signal, or an answer that cites some.")
    if len(votes) > MOST_VOTES:
        raise InvalidInput(f"At most {MOST_VOTES} votes at a time.")
    signals: dict[str, Signal] = {}
    for vote in votes:
        if signals.setdefault(vote.id, vote.signal) is not vote.signal:
            raise InvalidInput(f"{vote.id} is called {signals[vote.id]} and {vote.signal} in the same feedback.")
    return [Vote(item_id, signal) for item_id, signal in signals.items()]


def _body(wish: FeedbackWish, votes: Sequence[Vote]) -> str:
    """Hash of what the feedback says."""
    said = [f"{vote.id}={vote.signal}" for vote in sorted(votes, key=lambda vote: vote.id)]
    return content_hash(wish.reader or "", wish.context_id or "", str(wish.outcome or ""), *said)


def _given_before(session: Session, key: str, body: str) -> FeedbackAnswer:
    given = feedback.given_under(session, key)
    if given is None or given.body_hash != body:
        raise Conflict("This Idempotency-Key was used for other feedback. Use a new key for new feedback.")
    answer = given.answer
    return FeedbackAnswer(
        feedback_id=answer["feedback_id"],
        applied=tuple((entry[0], entry[1], entry[2]) for entry in answer["applied"]),
        unknown_ids=tuple(answer["unknown_ids"]),
        duplicate=True,
        notes=tuple(answer["notes"]),
    )


def _counted(changes: Changes, wish: FeedbackWish, votes: Sequence[Vote], feedback_id: str) -> FeedbackAnswer:
    session = changes.session
    moved = redirects.resolved(session, [vote.id for vote in votes])
    known = items.existing(session, {moved.get(vote.id, vote.id) for vote in votes})
    notes = [f"{old} was merged into {new}, which was counted" for old, new in moved.items() if new in known]
    context = feedback.context(session, wish.context_id) if wish.context_id else None
    if wish.context_id and context is None:
        notes.append(f"{wish.context_id} is not known here; the votes were counted all the same")
    shown = set(context.item_ids) if context else set()
    applied: dict[str, tuple[str, int, int]] = {}
    for vote in votes:
        item_id = moved.get(vote.id, vote.id)
        if item_id not in known or item_id in applied:
            continue
        helpful, harmful = int(vote.signal is Signal.HELPFUL), int(vote.signal is Signal.HARMFUL)
        counters = changes.vote(item_id, helpful, harmful, reader=wish.reader, feedback_id=feedback_id)
        applied[item_id] = (item_id, *counters)
        if context is not None and not {vote.id, item_id} & shown:
            notes.append(f"{vote.id} was not in {wish.context_id}; it was counted all the same")
    unknown = tuple(vote.id for vote in votes if moved.get(vote.id, vote.id) not in known)
    return FeedbackAnswer(feedback_id, tuple(applied.values()), unknown, notes=tuple(notes))
