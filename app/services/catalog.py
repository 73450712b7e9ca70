"""The corpus as every answer reads it: one immutable snapshot, swapped when the database has moved on."""

import logging
import threading
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from app.memory.applies_when import AppliesWhen, RecordError, parse_record
from app.memory.derivation import merge
from app.memory.measurements import by_hardware
from app.memory.ranking import ItemFacts
from app.memory.selection import KernelMemory, kernel_memory
from app.memory.wording import Wording, wording_from
from app.records import Corpus, Item, Measurement
from app.retrieval import index_file
from app.retrieval.embedder import Embedder, Vectors
from app.retrieval.index_file import IndexFile, Recipe
from app.services.deriving import require_same_model
from app.services.indexes import Indexes
from app.services.nearness import DatabaseVectors, vectors_in_database
from app.store import corpus, derived, embeddings, history
from app.store.database import Database, Session

log = logging.getLogger(__name__)

Votes = Mapping[str, tuple[int, int]]
"""Item id -> (helpful, harmful)."""

EMPTY = Corpus(-1, {}, {}, {}, [], {}, {})


@dataclass(frozen=True)
class Snapshot:
    """Everything that one corpus version says, ready for ranking and rendering. Never changed once made."""

    corpus: Corpus
    indexes: Indexes
    """Over the items that a fresh ranking may offer: active and not damaged."""
    wording: Wording
    votes: Mapping[str, Votes]
    """Reader -> its own votes."""

    @cached_property
    def memory(self) -> KernelMemory:
        """Lessons, pitfalls, recipes and kernels as policies read them; grouped when a context first asks for them."""
        return kernel_memory(self.corpus)

    @cached_property
    def measured(self) -> Mapping[str, Mapping[str, Measurement]]:
        """Hardware -> item id -> latest verification run."""
        return by_hardware(self.corpus)

    @property
    def version(self) -> int:
        """Corpus version."""
        return self.corpus.version


class Catalog:
    """Hands out the snapshot of the present corpus version.

    Every call asks the database for its version, so a write that was answered is seen by every later call, in every
    process. One thread at a time loads what changed; the others wait for it rather than answer from the past.
    """

    def __init__(self, database: Database, embedder: Embedder, index_path: Path) -> None:
        self._database = database
        self._embedder = embedder
        self._index_path = index_path
        self._lock = threading.Lock()
        self._outside: DatabaseVectors | None = None
        self._vectors: dict[str, Vectors] = {}
        self._records: dict[str, AppliesWhen] = {}
        self._snapshot: Snapshot | None = None

    @property
    def loaded(self) -> Snapshot | None:
        """The snapshot that was handed out last, which may be behind the database; None before the first."""
        return self._snapshot

    def current(self) -> Snapshot:
        """The snapshot of the newest committed corpus version."""
        version = corpus.version(self._database)
        snapshot = self._snapshot
        if snapshot is not None and snapshot.version >= version:
            return snapshot
        with self._lock:
            if self._snapshot is None or self._snapshot.version < version:
                self._snapshot = self._refreshed(self._snapshot)
            return self._snapshot

    def save_index(self) -> bool:
        """Keeps the vectors on disk, so that the next start is quick; False where the folder cannot be written.

        Where the database searches its own vectors there is nothing to keep.
        """
        snapshot = self.current()
        if self._outside is not None:
            return True
        with self._database.read() as session:
            identity = corpus.state(session).identity
        with self._lock:
            ids = [item_id for item_id in snapshot.corpus.items if item_id in self._vectors]
            vectors = [self._vectors[item_id] for item_id in ids]
        matrix = np.stack(vectors) if vectors else np.empty((0, self._embedder.dimension), dtype=np.float32)
        recipe = Recipe(self._embedder.model_id, self._embedder.dimension, snapshot.version, identity)
        return index_file.save(self._index_path, IndexFile(recipe, ids, matrix))

    def vectors(self) -> dict[str, Vectors]:
        """Item id -> vector, of the items that have one."""
        self.current()
        if self._outside is not None:
            with self._database.read() as session:
                ids, vectors = embeddings.load(session, self._embedder.model_id, changed_after=-1)
            return dict(zip(ids, vectors, strict=True))
        with self._lock:
            return dict(self._vectors)

    def forget_index(self) -> None:
        """Deletes the index file, which the next snapshot then makes anew from the database."""
        with self._lock:
            self._index_path.unlink(missing_ok=True)
            self._snapshot = None
            self._vectors.clear()

    def _refreshed(self, old: Snapshot | None) -> Snapshot:
        require_same_model(self._database, self._embedder)
        since = old.version if old else -1
        before = old.corpus if old else EMPTY
        if old is None:
            self._outside = vectors_in_database(self._database, self._embedder)
        if self._outside is not None:
            self._outside.follow(since)
        with self._database.read() as session:
            state = corpus.state(session)
            vectors_since = since if old or self._outside else self._load_index(state)
            changed = corpus.items_since(session, since)
            facts = corpus.facts(session) if state.facts_version > since or old is None else None
            records = derived.load(session, changed_after=since)
            voters = history.votes_of_readers(session, changed_after=since)
            fresh_ids, fresh = self._fresh_vectors(session, vectors_since)
        items: Mapping[str, Item] = {**before.items, **{item.id: item for item in changed}}
        told = {item.id: _record(item, records.get(item.id)) for item in changed}
        vectors = dict(zip(fresh_ids, fresh, strict=True))
        voted = {item.id for item in changed if self._only_voted(before.items.get(item.id), item, told, vectors)}
        if old is not None:
            for item in changed:
                self._vectors.pop(item.id, None)
        self._vectors.update(vectors)
        self._records.update(told)
        known = facts or before
        whole = Corpus(
            version=state.version,
            items=items,
            problems=known.problems,
            readers=known.readers,
            baselines=known.baselines,
            rankings=known.rankings,
            wording=known.wording,
            measurements=known.measurements,
        )
        votes = _votes(old, voters)
        return Snapshot(whole, self._indexes(old, changed, voted, items), wording_from(whole.wording), votes)

    def _fresh_vectors(self, session: Session, since: int) -> tuple[Sequence[str], Vectors]:
        """Ids and vectors that changed after a corpus version; none where they stay in the database."""
        if self._outside is not None:
            return [], np.empty((0, self._embedder.dimension), dtype=np.float32)
        return embeddings.load(session, self._embedder.model_id, changed_after=since)

    def _only_voted(
        self, before: Item | None, item: Item, told: Mapping[str, AppliesWhen], vectors: Mapping[str, Vectors]
    ) -> bool:
        """Whether everything that an index reads of an item, its counters aside, is as it was."""
        if before is None or not (_rankable(before) and _rankable(item)):
            return False
        same = (before.content_hash, before.source_problem) == (item.content_hash, item.source_problem)
        known, found = self._vectors.get(item.id), vectors.get(item.id)
        same_vector = known is found or (known is not None and found is not None and np.array_equal(known, found))
        return same and same_vector and self._records.get(item.id) == told[item.id]

    def _indexes(
        self, old: Snapshot | None, changed: Sequence[Item], voted: Set[str], items: Mapping[str, Item]
    ) -> Indexes:
        """The old indexes with what changed, or indexes built anew where that is the better way."""
        moved = [item for item in changed if item.id not in voted]
        if old is not None and old.indexes.takes(len(moved)):
            indexes = old.indexes
            if voted:
                indexes = indexes.recounted([item for item in changed if item.id in voted], self._facts)
            if moved:
                added = [item for item in moved if _rankable(item)]
                gone = [item.id for item in moved if not _rankable(item)]
                indexes = indexes.changed(added, gone, self._rows(added), self._facts)
            return indexes
        rankable = [item for item in items.values() if _rankable(item)]
        return Indexes.of(rankable, self._rows(rankable), self._facts, self._outside)

    def _rows(self, items: Sequence[Item]) -> Vectors | None:
        if self._outside is not None:
            return None
        nothing = np.zeros(self._embedder.dimension, dtype=np.float32)
        rows = [self._vectors.get(item.id, nothing) for item in items]
        return np.array(rows, dtype=np.float32).reshape(-1, self._embedder.dimension)

    def _facts(self, item: Item) -> ItemFacts:
        return ItemFacts(item.id, self._records[item.id], item.helpful, item.harmful)

    def _load_index(self, state: corpus.CorpusState) -> int:
        """Takes vectors from the index file; the corpus version up to which they are complete (-1 for none)."""
        embedder = self._embedder
        found = index_file.load(self._index_path, embedder.model_id, embedder.dimension, state.identity)
        if found is None or found.recipe.corpus_version > state.version:
            return -1
        self._vectors.update(zip(found.ids, found.vectors, strict=True))
        return found.recipe.corpus_version


def _votes(old: Snapshot | None, voters: Mapping[str, Votes]) -> Mapping[str, Votes]:
    """The votes of every reader: the old ones, and those on items that changed (item id -> reader -> votes)."""
    moved: dict[str, dict[str, tuple[int, int]]] = {}
    for item_id, of_item in voters.items():
        for reader, counts in of_item.items():
            moved.setdefault(reader, {})[item_id] = counts
    known = old.votes if old else {}
    return {**known, **{reader: {**known.get(reader, {}), **counts} for reader, counts in moved.items()}}


def _rankable(item: Item) -> bool:
    return item.shown and item.damage is None


def _record(item: Item, derived_record: Mapping[str, Any] | None) -> AppliesWhen:
    """When the item applies: a curator's record joined with the derived one."""
    return merge(_curated(item), _trusted(derived_record or {}))


def _curated(item: Item) -> AppliesWhen | None:
    """The curator's record; None where there is none, or where an older vocabulary wrote it."""
    if item.applies_when is None:
        return None
    try:
        return parse_record(item.applies_when)
    except RecordError as fault:
        log.warning("applies_when of %s is not in the present vocabulary: %s", item.id, fault)
        return None


def _trusted(values: Mapping[str, Any]) -> AppliesWhen:
    """A derived record as it was stored; it was made by this program, so it needs no check."""
    fields: dict[str, Any] = {n: tuple(value) if isinstance(value, list) else value for n, value in values.items()}
    return AppliesWhen(**fields)
