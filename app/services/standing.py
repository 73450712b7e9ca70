"""How the playbook stands, in numbers."""

from dataclasses import dataclass
from datetime import UTC, datetime

from app.retrieval.embedder import Embedder
from app.services.catalog import Catalog
from app.store import corpus, embeddings, tallies
from app.store.database import Database
from app.store.tallies import Tally

MOST_COUNTED = 10_000
"""Items without a vector are counted up to here."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Numbers of the database, and of this process's snapshot of it."""

    database_version: int
    drift: int
    """Corpus versions that the snapshot is behind; the next answer catches up first."""
    rankable: int
    without_vector: int
    findings_open: int
    items: Tally
    votes: Tally
    runs: Tally
    queue_seconds: float
    """How long the oldest order has waited; 0 where none waits."""
    verdicts: Tally


def standing(database: Database, embedder: Embedder, catalog: Catalog) -> Standing:
    """The present numbers. The snapshot is looked at as it is: asking must not bring it up to date."""
    loaded = catalog.loaded
    with database.read() as session:
        version = corpus.state(session).version
        return Standing(
            database_version=version,
            drift=version - loaded.version if loaded else version,
            rankable=len(loaded.indexes) if loaded else 0,
            without_vector=len(embeddings.missing(session, embedder.model_id, MOST_COUNTED)),
            findings_open=tallies.open_findings(session),
            items=tallies.items(session),
            votes=tallies.votes(session),
            runs=tallies.runs(session),
            queue_seconds=_waited(tallies.oldest_queued(session)),
            verdicts=tallies.verdicts(session),
        )


def _waited(since: datetime | None) -> float:
    """Seconds since then; never negative, though the clock may have jumped."""
    return max(0.0, (datetime.now(UTC) - since).total_seconds()) if since is not None else 0.0
