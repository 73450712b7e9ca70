"""Indexes that follow changes give the scores that indexes built anew would give."""

import numpy as np
from fastapi.testclient import TestClient

from app.main import create_app
from app.retrieval.lexical import LexicalIndex, term_counts
from app.retrieval.vectors import FaissIndex
from app.settings import Settings

TEXTS = [f"fuse the epilogue of conv{n % 5}d with group norm {n % 7} and gelu, tile {n}" for n in range(60)]


def test_a_lexical_index_that_followed_changes_scores_to_the_bit_like_one_built_anew() -> None:
    counts = [term_counts(text) for text in TEXTS]
    followed = LexicalIndex.of(counts[:40]).changed(counts[40:45], {3: counts[3]}).changed(counts[45:], {})
    followed = followed.changed([], {41: counts[41]})
    live = [row for row in range(60) if row not in (3, 41)]
    anew = LexicalIndex.of([counts[row] for row in live])
    for query in (["gelu", "conv3d", "tile"], ["55"], ["41"], ["sourdough"]):
        scores = followed.scores(query)
        assert np.array_equal(scores[live], anew.scores(query))
        assert not scores[[3, 41]].any()
        assert followed.ideal(query) == anew.ideal(query)


def test_a_vector_index_that_followed_changes_finds_what_one_built_anew_finds() -> None:
    vectors = np.random.default_rng(1).standard_normal((50, 16)).astype(np.float32)
    grown = FaissIndex(vectors[:30], 16).with_rows(vectors[30:40]).with_rows(vectors[40:])
    allowed = np.ones(50, dtype=bool)
    allowed[[2, 35]] = False
    for mask in (None, allowed):
        rows, cosines = grown.nearest(vectors[7], 10, mask)
        expected, similar = FaissIndex(vectors, 16).nearest(vectors[7], 10, mask)
        assert rows.tolist() == expected.tolist()
        assert np.allclose(cosines, similar, atol=1e-5)


def _answers(client: TestClient) -> list[object]:
    asked = [
        {"query": "fuse conv2d with group norm and gelu", "explain": True, "threshold": 0},
        {"query": "convT3d bn avgpool", "filters": {"kind": {"eq": "bullet"}}},
        {"query": "gelu", "filters": {"helpful": {"gte": 1}}, "diversify": False},
    ]
    answers = [client.post("/v1/search", json=body).json() for body in asked]
    return [(answer["results"], answer["total_candidates"], answer["left_out"]) for answer in answers]


def test_a_server_that_saw_every_change_answers_like_one_that_starts_afterwards(starter_settings: Settings) -> None:
    with TestClient(create_app(starter_settings)) as client:
        _answers(client)
        made = client.post("/v1/bullets", json={"text": "Fuse conv2d, group norm and GELU in one pass."}).json()
        _answers(client)
        edit = {"version": made["version"], "text": "Fuse conv2d, group norm and GELU into one pass over the output."}
        assert client.patch(f"/v1/bullets/{made['id']}", json=edit).status_code == 200
        listed = client.get("/v1/bullets", params={"limit": 3}).json()["items"]
        _answers(client)
        assert client.delete(f"/v1/bullets/{listed[0]['id']}").status_code == 200
        edit = {"version": listed[1]["version"], "family": "conv"}
        assert client.patch(f"/v1/bullets/{listed[1]['id']}", json=edit).status_code == 200
        followed = _answers(client)
    with TestClient(create_app(starter_settings)) as client:
        assert _answers(client) == followed
