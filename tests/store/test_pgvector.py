"""pgvector and FAISS answer alike, filters act before the cut, and a missing extension is said."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from app.errors import PgvectorMissing
from app.records import Task
from app.retrieval.embedder import unit
from app.retrieval.hashing import HashingEmbedder
from app.services.catalog import Catalog
from app.services.curation import Curator, edit
from app.services.load import load
from app.services.migrate import ensure_migrated
from app.services.nearness import vectors_in_database
from app.services.ranking import Ranker, Wish
from app.services.tasks import TaskReader
from app.settings import Settings
from app.store import pgvector
from app.store.database import Database
from app.vocabulary import EmbedderName, ItemKind, VectorIndexName
from tests.conftest import SHARED, new_database

EMBEDDER = HashingEmbedder()
VAGUE = ["make it go faster please", "the thing with the rows", "numbers shrink", "sharing out a whole", "", "?"]


def _settings(url: str, folder: Path, index: VectorIndexName) -> Settings:
    return Settings(var_dir=folder, embedder=EmbedderName.HASH, database_url=url, vector_index=index)


@pytest.fixture(scope="module")
def filled(seeds: list[Path], postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a PostgreSQL database with both seed documents, for all tests of this file."""
    with new_database(postgres_server, "test_pgvector") as url:
        database = Database(_settings(url, tmp_path_factory.mktemp("filled"), VectorIndexName.FAISS))
        ensure_migrated(database)
        assert load(database, EMBEDDER, seeds).complete
        database.dispose()
        yield url


def _catalogs(url: str, folder: Path) -> dict[VectorIndexName, Catalog]:
    names = (VectorIndexName.FAISS, VectorIndexName.PGVECTOR)
    return {n: Catalog(Database(_settings(url, folder, n)), EMBEDDER, folder / f"{n.value}.npz") for n in names}


def test_both_back_ends_give_the_same_first_ten_for_every_development_query(filled: str, tmp_path: Path) -> None:
    data = pytest.importorskip("eval.quality.data")
    queries = [q for query in data.load(SHARED).queries for q in query.wordings.values()]
    tasks = TaskReader(EMBEDDER)
    answers = {}
    for name, catalog in _catalogs(filled, tmp_path).items():
        snapshot, ranker = catalog.current(), Ranker(tasks)
        assert (snapshot.indexes.vectors is None) == (name is VectorIndexName.PGVECTOR)
        answers[name] = [
            [
                (one.item.id, round(one.score, 5))
                for one in ranker.rank(snapshot, tasks.read(task, snapshot.corpus), wish).results
            ]
            for task in [Task(text=query) for query in [*queries, *VAGUE]]
            for wish in (Wish(), Wish(kinds=frozenset({ItemKind.MEMORY})))
        ]
    faiss, inside = answers[VectorIndexName.FAISS], answers[VectorIndexName.PGVECTOR]
    assert faiss == inside
    assert sum(bool(found) for found in inside) > len(queries)


def test_cosines_are_those_of_faiss_with_and_without_a_filter(filled: str, tmp_path: Path) -> None:
    snapshots = {name: catalog.current() for name, catalog in _catalogs(filled, tmp_path).items()}
    query = EMBEDDER.encode(["group norm over channels then a reduction"])[0]
    rows = len(snapshots[VectorIndexName.FAISS].indexes.items)
    few = np.zeros(rows, dtype=bool)
    few[[3, rows // 2]] = True
    for allowed in (None, few, ~few):
        found = [snapshot.indexes.similarities(query, allowed) for snapshot in snapshots.values()]
        assert found[0] is not None and found[1] is not None
        assert np.allclose(found[0], found[1], atol=1e-6)
        assert np.count_nonzero(found[1])


def test_an_edited_text_has_its_new_vector_at_once_and_its_old_one_goes(filled: str, tmp_path: Path) -> None:
    catalog = _catalogs(filled, tmp_path)[VectorIndexName.PGVECTOR]
    database = Database(_settings(filled, tmp_path, VectorIndexName.PGVECTOR))
    item = next(item for item in catalog.current().corpus.items.values() if item.kind is ItemKind.MEMORY)
    words = "zebra quagga okapi"
    edit(Curator(database, EMBEDDER, "test"), item.id, item.version, {"text": words})
    snapshot = catalog.current()
    found = snapshot.indexes.similarities(EMBEDDER.encode([words])[0], None)
    assert found is not None and found[snapshot.indexes.places[item.id]] == pytest.approx(1.0, abs=1e-6)
    with database.engine.connect() as connection:
        count = text("SELECT count(*) FROM playbook_derived.item_vector WHERE item_id = :id")
        assert connection.execute(count, {"id": item.id}).scalar() == 1
    database.dispose()


def test_filters_act_before_the_cut_where_the_table_is_longer_than_the_candidates(
    filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.services.nearness.DENSE_CANDIDATES", 5)
    snapshot = _catalogs(filled, tmp_path)[VectorIndexName.PGVECTOR].current()
    query = unit(np.random.default_rng(3).standard_normal((1, EMBEDDER.dimension)).astype(np.float32))[0]
    everything = snapshot.indexes.similarities(query, None)
    assert everything is not None and np.count_nonzero(everything) == 5
    allowed = everything == 0
    found = snapshot.indexes.similarities(query, allowed)
    assert found is not None and np.count_nonzero(found[allowed]) == 5 and not found[~allowed].any()


def test_sqlite_has_no_pgvector_and_says_so_only_where_it_was_asked_for(tmp_path: Path) -> None:
    automatic = Database(_settings("", tmp_path, VectorIndexName.AUTO))
    assert vectors_in_database(automatic, EMBEDDER) is None
    wanted = Database(_settings("", tmp_path, VectorIndexName.PGVECTOR))
    with pytest.raises(PgvectorMissing, match="SQLite"):
        vectors_in_database(wanted, EMBEDDER)


def test_vectors_of_another_model_are_thrown_away(filled: str, tmp_path: Path) -> None:
    database = Database(_settings(filled, tmp_path, VectorIndexName.PGVECTOR))
    assert pgvector.prepare(database, "other", 8) is None
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM playbook_derived.item_vector")).scalar() == 0
    snapshot = Catalog(database, EMBEDDER, tmp_path / "x.npz").current()
    assert snapshot.indexes.similarities(EMBEDDER.encode(["gelu"])[0], None) is not None
    with database.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM playbook_derived.item_vector")).scalar()
    database.dispose()
