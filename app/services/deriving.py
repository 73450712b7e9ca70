"""Keeps what is derived from texts in step with them: vectors, and records of when an item applies.

All of it can be made again: this can be stopped at any point and run again.
"""

from collections.abc import Callable
from dataclasses import replace

from app.errors import WrongEmbedder
from app.memory.derivation import derive
from app.memory.derivation_recipe import fingerprint
from app.memory.heads import head
from app.records import Item
from app.retrieval.embedder import Embedder, Vectors
from app.store import corpus, derived, embeddings, facts, items
from app.store.database import Database, Session
from app.store.derived import Underived
from app.store.embeddings import Unembedded
from app.vocabulary import ItemKind

BATCH = 64

Progress = Callable[[int], None]


def require_same_model(database: Database, embedder: Embedder) -> None:
    """Raises WrongEmbedder where the stored vectors come from another model or have another dimension."""
    with database.read() as session:
        state = corpus.state(session)
    ours = (embedder.model_id, embedder.dimension)
    if state.model_id is not None and (state.model_id, state.dimension) != ours:
        raise WrongEmbedder(
            f"The vectors come from {state.model_id} ({state.dimension} dimensions), the embedder is "
            f"{embedder.model_id} ({embedder.dimension}). Run `playbook reindex`, or set PLAYBOOK_EMBEDDER back.",
            stored=state.model_id,
            chosen=embedder.model_id,
        )


def derive_missing(database: Database, embedder: Embedder, progress: Progress = lambda _: None) -> int:
    """Derives what is missing or out of date for any item; the number of texts that were embedded.

    `progress` is called with the size of each finished batch of vectors. The model is loaded only if it is needed.
    """
    require_same_model(database, embedder)
    _derive_records(database)
    return _embed(database, embedder, progress)


def reindex(database: Database, embedder: Embedder, progress: Progress = lambda _: None) -> int:
    """Throws all vectors away and embeds every item with the chosen model; the number embedded."""
    with database.write() as session:
        embeddings.clear(session)
        corpus.set_model(session, embedder.model_id, embedder.dimension)
        corpus.advance(session)
    return derive_missing(database, embedder, progress)


def vector_of(embedder: Embedder, text: str) -> Vectors:
    """The vector of a text's opening."""
    vector: Vectors = embedder.encode([head(text)])[0]
    return vector


def keep(session: Session, embedder: Embedder, item: Item, vector: Vectors) -> None:
    """Keeps what is derived from an item in the transaction that changes the item."""
    if corpus.state(session).model_id is None:
        corpus.set_model(session, embedder.model_id, embedder.dimension)
    embeddings.put(session, embedder.model_id, [(Unembedded(item.id, item.text, item.content_hash), vector)])
    names = facts.problem_names(session)
    entry = Underived(item.id, item.kind, item.text, item.content_hash, item.family, item.source_problem)
    derived.put(session, fingerprint(), [(entry, _record(entry, names))])


def _derive_records(database: Database) -> None:
    while True:
        with database.read() as session:
            waiting = derived.missing(session, fingerprint(), BATCH)
            names = facts.problem_names(session)
        if not waiting:
            return
        records = [(entry, _record(entry, names)) for entry in waiting]
        with database.write() as session:
            derived.put(session, fingerprint(), records)
            items.touch(session, [entry.item_id for entry in waiting], changed_in=corpus.advance(session))


def _record(entry: Underived, names: dict[str, str]) -> dict[str, object]:
    record = derive(entry.text, entry.family, names.get(entry.source_problem or ""))
    # A lesson holds for every problem: that is what makes it one.
    return replace(record, generic=record.generic or entry.kind is ItemKind.LESSON).to_mapping()


def _embed(database: Database, embedder: Embedder, progress: Progress) -> int:
    done = 0
    while True:
        with database.read() as session:
            waiting = embeddings.missing(session, embedder.model_id, BATCH)
        if not waiting:
            return done
        vectors = embedder.encode([head(item.text) for item in waiting])
        with database.write() as session:
            if corpus.state(session).model_id is None:
                corpus.set_model(session, embedder.model_id, embedder.dimension)
            embeddings.put(session, embedder.model_id, zip(waiting, vectors, strict=True))
            items.touch(session, [item.item_id for item in waiting], changed_in=corpus.advance(session))
        done += len(waiting)
        progress(len(waiting))
