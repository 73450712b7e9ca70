"""Whether each part of the service can do its work."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from app.errors import PlaybookError
from app.retrieval.embedder import Embedder
from app.services.catalog import Catalog
from app.services.deriving import require_same_model
from app.store import embeddings, migrations, tallies
from app.store.database import Database


@dataclass(frozen=True, slots=True)
class Check:
    """What one part says of itself."""

    name: str
    ok: bool
    says: str


def readiness(database: Database, embedder: Embedder, catalog: Catalog) -> list[Check]:
    """Every part, in the order in which they depend on each other."""
    return [
        _check("database", lambda: _answers(database)),
        _check("model", lambda: _same_model(database, embedder)),
        _check("index", lambda: _index(database, embedder, catalog)),
        _check("queue", lambda: _queue(database)),
    ]


def _check(name: str, ask: Callable[[], str]) -> Check:
    try:
        return Check(name, True, ask())
    except PlaybookError as fault:
        return Check(name, False, fault.detail)


def _answers(database: Database) -> str:
    migrations.require_current(database)
    return f"{database.url.get_backend_name()} at migration {migrations.head()}"


def _same_model(database: Database, embedder: Embedder) -> str:
    require_same_model(database, embedder)
    return f"{embedder.model_id}, {embedder.dimension} dimensions"


def _index(database: Database, embedder: Embedder, catalog: Catalog) -> str:
    before = catalog.loaded
    snapshot = catalog.current()
    drift = snapshot.version - before.version if before else 0
    with database.read() as session:
        waiting = len(embeddings.missing(session, embedder.model_id, 1000))
    kept = f"{len(snapshot.indexes)} items at corpus version {snapshot.version}, {waiting} without a vector"
    return f"{kept}, {drift} versions behind when asked"


def _queue(database: Database) -> str:
    """Tells only: a server can answer however long the queue is."""
    with database.read() as session:
        runs, oldest = tallies.runs(session), tallies.oldest_queued(session)
    waiting = f"{runs[('queued',)]} runs queued, {runs[('running',)]} running"
    if oldest is None:
        return waiting
    return f"{waiting}, the oldest has waited for {max(0, (datetime.now(UTC) - oldest).total_seconds()):.0f} s"
