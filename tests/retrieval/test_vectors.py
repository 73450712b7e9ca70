"""The vector index: cosines, best first, filters before the cut; the file that keeps vectors."""

from pathlib import Path

import numpy as np
import pytest

from app.errors import WrongEmbedder
from app.retrieval import index_file
from app.retrieval.embedder import unit
from app.retrieval.index_file import IndexFile, Recipe
from app.retrieval.vectors import FaissIndex

RANDOM = np.random.default_rng(7)
VECTORS = unit(RANDOM.standard_normal((500, 16)).astype(np.float32))
QUERY = unit(RANDOM.standard_normal((1, 16)).astype(np.float32))[0]


def test_neighbours_are_cosines_best_first_not_distances() -> None:
    rows, cosines = FaissIndex(VECTORS, 16).nearest(QUERY, 10)
    expected = np.argsort(-(VECTORS @ QUERY))[:10]
    assert rows.tolist() == expected.tolist()
    assert np.allclose(cosines, (VECTORS @ QUERY)[expected], atol=1e-6)


def test_a_filter_acts_before_the_cut() -> None:
    index = FaissIndex(VECTORS, 16)
    worst = np.argsort(VECTORS @ QUERY)[:5]
    allowed = np.zeros(500, dtype=bool)
    allowed[worst] = True
    rows, _ = index.nearest(QUERY, 10, allowed)
    assert sorted(rows.tolist()) == sorted(worst.tolist())
    assert index.nearest(QUERY, 10, np.zeros(500, dtype=bool))[0].tolist() == []


def test_similarities_stand_at_their_rows() -> None:
    index = FaissIndex(VECTORS, 16)
    allowed = np.ones(500, dtype=bool)
    allowed[::2] = False
    similarities = index.similarities(QUERY, allowed)
    assert np.allclose(similarities[1::2], (VECTORS @ QUERY)[1::2], atol=1e-6)
    assert not similarities[::2].any()


def test_an_empty_index_answers() -> None:
    assert FaissIndex(np.empty((0, 16), dtype=np.float32), 16).nearest(QUERY, 10)[0].tolist() == []


RECIPE = Recipe("model", 16, 3, "database")


def test_the_file_gives_back_what_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / "index" / "vectors.npz"
    assert index_file.save(path, IndexFile(RECIPE, ["a-1", "b-2"], VECTORS[:2]))
    found = index_file.load(path, "model", 16, "database")
    assert found is not None
    assert (found.recipe, found.ids) == (RECIPE, ["a-1", "b-2"])
    assert np.array_equal(found.vectors, VECTORS[:2])
    assert [p.name for p in path.parent.iterdir()] == ["vectors.npz"]


def test_another_model_or_dimension_is_refused_and_another_database_ignored(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    index_file.save(path, IndexFile(RECIPE, ["a-1"], VECTORS[:1]))
    for model, dimension in (("other", 16), ("model", 384)):
        with pytest.raises(WrongEmbedder, match="playbook reindex"):
            index_file.load(path, model, dimension, "database")
    assert index_file.load(path, "model", 16, "another database") is None
    assert index_file.load(tmp_path / "missing.npz", "model", 16, "database") is None


def test_a_folder_that_cannot_be_written_costs_only_the_file() -> None:
    assert not index_file.save(Path("/proc/none/vectors.npz"), IndexFile(RECIPE, ["a-1"], VECTORS[:1]))


def test_rounded_vectors_find_what_exact_ones_find(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(11)
    centres = draw.standard_normal((40, 64))
    vectors = unit((centres[draw.integers(0, 40, 6000)] + draw.standard_normal((6000, 64))).astype(np.float32))
    exact = FaissIndex(vectors, 64)
    monkeypatch.setattr("app.retrieval.vectors.EXACT_UP_TO", 1000)
    rounded = FaissIndex(vectors, 64)
    few = draw.random(6000) < 0.01
    for allowed in (None, few, ~few):
        shared = 0
        for query in vectors[:40]:
            rows, cosines = exact.nearest(query, 50, allowed)
            found, near = rounded.nearest(query, 50, allowed)
            assert allowed is None or allowed[found].all()
            assert np.allclose(near[:5], cosines[:5], atol=1e-6) and len(found) == len(rows)
            shared += len(set(rows.tolist()) & set(found.tolist()))
        assert shared >= 0.99 * 40 * 50
