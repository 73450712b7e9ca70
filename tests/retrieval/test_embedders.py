"""Every embedder: unit vectors, whatever text comes; the real models place related texts near each other."""

from collections.abc import Iterator

import numpy as np
import pytest

from app.errors import EmbedderMissing
from app.retrieval.embedder import Embedder, chosen_embedder
from app.settings import Settings
from app.vocabulary import EmbedderName

ODD_TEXTS = ["", "   ", "\0", "\ud800 lone", "😀" * 500, "word " * 20_000, "plain text about softmax"]


@pytest.fixture(scope="module", params=list(EmbedderName))
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    try:
        yield chosen_embedder(Settings(embedder=request.param))
    except EmbedderMissing as fault:
        pytest.skip(fault.detail)


def test_every_text_has_a_unit_vector_of_the_promised_length(embedder: Embedder) -> None:
    vectors = embedder.encode(ODD_TEXTS)
    assert vectors.shape == (len(ODD_TEXTS), embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    assert embedder.encode([]).shape == (0, embedder.dimension)


def test_a_text_has_the_same_vector_alone_and_in_company(embedder: Embedder) -> None:
    alone = embedder.encode(["softmax over rows"])[0]
    together = embedder.encode(["softmax over rows", "a much longer text about something else " * 20])[0]
    assert float(alone @ together) > 0.9999


def test_related_texts_are_nearer_than_unrelated_ones(embedder: Embedder) -> None:
    query, near, far = embedder.encode(
        ["fused conv transpose and batch norm", "batch norm after a conv transpose", "sourdough bread recipe"]
    )
    assert query @ near > query @ far + 0.2


def test_the_light_model_agrees_with_the_full_one() -> None:
    try:
        full, light = (chosen_embedder(Settings(embedder=name)) for name in (EmbedderName.MINILM, EmbedderName.ONNX))
    except EmbedderMissing as fault:
        pytest.skip(fault.detail)
    texts = ["matmul with bias and gelu", "use a persistent kernel for the recurrence", "channels_last lost here"]
    assert np.diag(full.encode(texts) @ light.encode(texts).T).min() > 0.97
    assert full.model_id != light.model_id


def test_a_missing_package_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "app.retrieval.onnx", None)
    with pytest.raises(EmbedderMissing, match=r"pip install 'kernel-playbook\[onnx\]'"):
        chosen_embedder(Settings(embedder=EmbedderName.ONNX))
