"""Synthetic items: the same from the same seed, like the real ones in their words, and sound for the store."""

from pathlib import Path

import numpy as np
import pytest

from app.memory.applies_when import parse_record
from app.retrieval.hashing import HashingEmbedder
from app.settings import Settings
from app.store import corpus, derived, embeddings
from app.store.database import Database
from eval import originals as real
from eval.synthetic import Generator, fill
from eval.word_statistics import growth, statistics, words
from tests.conftest import STARTER


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> real.Originals:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(real, "sources", lambda: [STARTER])
        return real.imported(tmp_path_factory.mktemp("real"), HashingEmbedder(), "hash")


def test_the_same_seed_gives_the_same_items(originals: real.Originals) -> None:
    first, second = (list(Generator(originals, seed=3).make(50)) for _ in range(2))
    assert [made.item for made in first] == [made.item for made in second]
    assert [made.record for made in first] == [made.record for made in second]
    assert all(np.array_equal(a.vector, b.vector) for a, b in zip(first, second, strict=True))
    assert [made.item.text for made in Generator(originals, seed=4).make(50)] != [made.item.text for made in first]


def test_the_words_are_distributed_like_those_of_the_real_items(originals: real.Originals) -> None:
    texts = [item.text for item in originals.items]
    made = [synthetic.item.text for synthetic in Generator(originals).make(1000)]
    expected, found = statistics(texts), statistics(made)
    assert found["words_mean"] == pytest.approx(expected["words_mean"], rel=0.15)
    assert found["distinct_words_mean"] == pytest.approx(expected["distinct_words_mean"], rel=0.15)
    assert found["zipf_slope"] == pytest.approx(expected["zipf_slope"], abs=0.2)
    tokens = sum(len(words(text)) for text in [*texts, *made])
    assert len({word for text in [*texts, *made] for word in words(text)}) > expected["vocabulary"]
    assert found["vocabulary"] < 2 * growth(texts).vocabulary(tokens)


def test_vectors_are_of_unit_length_and_near_the_real_ones(originals: real.Originals) -> None:
    vectors = np.stack([made.vector for made in Generator(originals).make(200)])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    nearest = (vectors @ originals.vectors.T).max(axis=1)
    assert 0.8 < float(np.median(nearest)) < 1.0


def test_everything_is_stored_and_nothing_is_left_to_derive(originals: real.Originals, database: Database) -> None:
    fill(database, HashingEmbedder.model_id, Generator(originals), 120)
    with database.read() as session:
        assert len(corpus.items_since(session, -1)) == 120
        assert embeddings.missing(session, HashingEmbedder.model_id, 10) == []
        records = derived.load(session, changed_after=-1)
    assert len(records) == 120
    for record in records.values():
        parse_record(record)


def test_the_vocabulary_grows_by_the_law_that_it_was_made_with() -> None:
    draw = np.random.default_rng(0)
    texts = [" ".join(f"w{int(n)}" for n in draw.zipf(1.5, size=100)) for _ in range(200)]
    fitted = growth(texts)
    vocabulary = len({word for text in texts for word in words(text)})
    assert fitted.vocabulary(sum(len(words(text)) for text in texts)) == pytest.approx(vocabulary, rel=0.05)
    assert 0.4 < fitted.exponent < 1.0


def test_the_starter_corpus_takes_the_place_of_missing_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real, "SHARED", tmp_path)
    assert real.sources() == [STARTER]
    assert isinstance(real.opened(tmp_path / "var", "hash").settings, Settings)
