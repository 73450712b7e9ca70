"""The real corpus that benchmarks start from: the seed documents where they exist, the starter corpus otherwise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.memory.applies_when import AppliesWhen, RecordError, parse_record
from app.records import Item
from app.retrieval.embedder import Embedder, Vectors
from app.services.load import load
from app.services.migrate import ensure_migrated
from app.settings import Settings
from app.store import corpus, derived, embeddings
from app.store.database import Database
from app.vocabulary import EmbedderName
from eval.provenance import ROOT, SHARED


@dataclass(frozen=True, slots=True)
class Originals:
    """Real items with what is derived from them: vectors[i] (unit, float32) and records[i] belong to items[i]."""

    items: Sequence[Item]
    vectors: Vectors
    records: Sequence[Mapping[str, Any]]

    def families(self) -> list[str]:
        """The family of each item: its own, or the first of its record, or none."""
        return [
            item.family or next(iter(record.get("families", ())), "")
            for item, record in zip(self.items, self.records, strict=True)
        ]


def sources() -> list[Path]:
    """What is imported: seed documents and problem facts beside this checkout, or the starter corpus."""
    seeds = sorted((SHARED / "seeds").glob("*.txt"))
    return [SHARED / "data" / "problems.csv", *seeds] if seeds else [ROOT / "bullets"]


def opened(folder: Path, embedder: str) -> Database:
    """The SQLite database in a folder, made and migrated if need be."""
    database = Database(Settings(var_dir=folder, database_url="", embedder=EmbedderName(embedder)))
    ensure_migrated(database)
    return database


def imported(folder: Path, embedder: Embedder, name: str) -> Originals:
    """Imports the real corpus into a database in `folder` (some 25 s with MiniLM) and reads it back."""
    database = opened(folder, name)
    load(database, embedder, [path for path in sources() if path.exists()])
    with database.read() as session:
        items = [item for item in corpus.items_since(session, -1) if item.shown and item.damage is None]
        records = derived.load(session, changed_after=-1)
        ids, vectors = embeddings.load(session, embedder.model_id, changed_after=-1)
    database.dispose()
    places = {item_id: row for row, item_id in enumerate(ids)}
    items = [item for item in items if item.id in places]
    return Originals(items, vectors[[places[item.id] for item in items]], [_usable(records.get(i.id)) for i in items])


def _usable(record: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The record, or where it is missing or unsound one that says that the item is of use for any task."""
    try:
        return parse_record(record or {}).to_mapping()
    except RecordError:
        return AppliesWhen(generic=True).to_mapping()
