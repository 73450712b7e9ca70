"""Keeps vectors in step with texts. Vectors are derived: this can be stopped at any point and run again."""

from collections.abc import Callable

from app.errors import WrongEmbedder
from app.memory.heads import head
from app.retrieval.embedder import Embedder
from app.store import corpus, embeddings, items
from app.store.database import Database

BATCH = 64


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


def embed_missing(database: Database, embedder: Embedder, progress: Callable[[int], None] = lambda _: None) -> int:
    """Embeds the head of every item whose vector is missing or out of date; the number embedded.

    `progress` is called with the size of each finished batch. The model is loaded only if there is something to do.
    """
    require_same_model(database, embedder)
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


def reindex(database: Database, embedder: Embedder, progress: Callable[[int], None] = lambda _: None) -> int:
    """Throws all vectors away and embeds every item with the chosen model; the number embedded."""
    with database.write() as session:
        embeddings.clear(session)
        corpus.set_model(session, embedder.model_id, embedder.dimension)
        corpus.advance(session)
    return embed_missing(database, embedder, progress)
