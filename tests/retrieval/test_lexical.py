"""The lexical index: the same BM25 as a library's, whole words only, every document scored."""

from pathlib import Path

import numpy as np
import pytest

from app.retrieval import lexical_file
from app.retrieval.lexical import LexicalIndex, term_counts
from app.retrieval.words import terms

TEXTS = [
    "Fuse the conv2d epilogue: bias, GELU and residual add in one warp-wide pass.",
    "Use warpgroup instructions for the GEMM main loop, tile 128x128.",
    "GELU after a GEMM: fuse GELU into the epilogue; GELU costs little there.",
    "LayerNorm over the last axis, one warp per row.",
    "",
]


def test_scores_equal_those_of_bm25s() -> None:
    bm25s = pytest.importorskip("bm25s", reason="bm25s is not installed")
    index = LexicalIndex.of([term_counts(text) for text in TEXTS])
    library = bm25s.BM25(k1=1.2, b=0.75, method="lucene")
    library.index([terms(text) or ["nothing"] for text in TEXTS[:4]], show_progress=False)
    ours = LexicalIndex.of([term_counts(text) for text in TEXTS[:4]])
    query = terms("fuse GELU into the GEMM epilogue with one warp")
    expected = library.get_scores([term for term in dict.fromkeys(query) if term in library.vocab_dict])
    assert np.allclose(ours.scores(query), expected, atol=1e-5)
    assert index.scores(query).shape == (5,)


def test_a_word_matches_whole_words_only() -> None:
    index = LexicalIndex.of([term_counts(text) for text in TEXTS])
    assert np.flatnonzero(index.scores(["warp"])).tolist() == [0, 3]
    assert np.flatnonzero(index.scores(["warpgroup"])).tolist() == [1]


def test_names_are_found_by_their_parts_and_as_a_whole() -> None:
    assert terms("ConvTranspose3d_BatchNorm") == [
        "convtranspose3d",
        "conv",
        "transpose3d",
        "batchnorm",
        "batch",
        "norm",
    ]


def test_unknown_words_and_an_empty_index_score_nothing() -> None:
    assert LexicalIndex.of([]).scores(["gelu"]).shape == (0,)
    assert not LexicalIndex.of([term_counts(TEXTS[0])]).scores(["sourdough"]).any()


def test_an_index_from_its_file_scores_to_the_bit_and_another_key_or_damage_is_no_index(tmp_path: Path) -> None:
    texts = [f"fuse conv{n % 5}d with group norm {n % 7} and gelu, tile {n} élan" for n in range(50)]
    made = LexicalIndex.of([term_counts(text) for text in texts])
    file, key = tmp_path / "index" / "words.npz", lexical_file.key_of((str(n), text) for n, text in enumerate(texts))
    assert lexical_file.load(file, key) is None
    lexical_file.save(file, key, made)
    kept = lexical_file.load(file, key)
    assert kept is not None
    for query in (["gelu", "tile", "7"], ["conv3d"], ["nothing"]):
        assert np.array_equal(kept.scores(query), made.scores(query)) and kept.ideal(query) == made.ideal(query)
    grown = kept.changed([term_counts("gelu again")], {3: term_counts(texts[3])})
    assert np.array_equal(
        grown.scores(["gelu"]), made.changed([term_counts("gelu again")], {3: term_counts(texts[3])}).scores(["gelu"])
    )
    assert lexical_file.load(file, lexical_file.key_of([("0", "edited")])) is None
    file.write_bytes(file.read_bytes()[:200])
    assert lexical_file.load(file, key) is None
    lexical_file.save(Path("/proc/none/words.npz"), key, made)
