"""Puts the parts of one process together; every door takes them from here."""

from dataclasses import dataclass

from app.records import AuditEntry, ContextRecord
from app.retrieval.embedder import Embedder, chosen_embedder
from app.services.catalog import Catalog
from app.services.context import ContextRenderer
from app.services.keyring import KeyRing, KeyUse
from app.services.queue import Queue
from app.services.ranking import Ranker
from app.services.recorder import Recorder
from app.services.search import Search
from app.services.tasks import TaskReader
from app.services.turns import Turns
from app.settings import Settings
from app.store import feedback, keys
from app.store.database import Database


@dataclass(frozen=True, slots=True)
class Services:
    """The parts that all requests of one process share."""

    settings: Settings
    database: Database
    embedder: Embedder
    catalog: Catalog
    tasks: TaskReader
    search: Search
    contexts: ContextRenderer
    queue: Queue
    recorder: Recorder[ContextRecord]
    audit: Recorder[AuditEntry]
    key_uses: Recorder[KeyUse]
    keyring: KeyRing

    def close(self) -> None:
        """Writes what waits, and lets go of the database."""
        for recorder in (self.recorder, self.audit, self.key_uses):
            recorder.close()
        self.database.dispose()


def assembled(settings: Settings) -> Services:
    """The parts as the settings name them; nothing is loaded or connected before it is used."""
    database = Database(settings)
    embedder = chosen_embedder(settings)
    catalog = Catalog(database, embedder, settings.var_dir / "index" / "vectors.npz")
    tasks = TaskReader(embedder)
    ranker = Ranker(tasks)
    turns = Turns()
    recorder = Recorder(database, "context records", feedback.put_contexts)
    key_uses: Recorder[KeyUse] = Recorder(database, "uses of keys", keys.note_uses)
    return Services(
        settings=settings,
        database=database,
        embedder=embedder,
        catalog=catalog,
        tasks=tasks,
        search=Search(catalog, tasks, ranker, recorder, turns),
        contexts=ContextRenderer(catalog, tasks, ranker, recorder, turns),
        recorder=recorder,
        queue=Queue(settings),
        audit=Recorder(database, "audit entries", keys.append_audit),
        key_uses=key_uses,
        keyring=KeyRing(database, key_uses),
    )
