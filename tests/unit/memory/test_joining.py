"""Items that are appended to compiled ones rank as if all had been compiled together."""

import numpy as np
import pytest

from app.memory.derivation import derive
from app.memory.ranking import ItemFacts, compile_items, rank
from app.memory.ranking.joining import joined
from app.memory.task import read_task

TEXTS = [
    "For a conv2d followed by GELU, fuse the GELU into the epilogue.",
    "Softmax over rows: keep one row in registers.",
    "Large matmul with bias and ReLU: use a tf32x3 dot.",
    "ConvTranspose3d then batch norm and average pool: average raw values first.",
    "LayerNorm over the last axis, one warp per row.",
    "GroupNorm after a convolution: two passes per group.",
]
FACTS = [ItemFacts(f"a-{n}", derive(text, None, None), helpful=n) for n, text in enumerate(TEXTS)]


@pytest.mark.parametrize("cut", range(1, len(TEXTS)))
@pytest.mark.parametrize("query", ["conv2d gelu", "softmax", "matmul bias relu", "convT3d bn avgpool", "group norm"])
def test_joined_items_rank_as_if_compiled_together(cut: int, query: str) -> None:
    whole = compile_items(FACTS)
    parts = joined(compile_items(FACTS[:cut]), compile_items(FACTS[cut:]))
    profile = read_task(query, None)
    for allowed in (None, np.arange(len(FACTS)) % 2 == 0):
        expected = rank(profile, whole, top_k=6, threshold=0.0, allowed=allowed)
        found = rank(profile, parts, top_k=6, threshold=0.0, allowed=allowed)
        assert [(hit.id, hit.index, pytest.approx(hit.score)) for hit in expected.hits] == [
            (hit.id, hit.index, hit.score) for hit in found.hits
        ]
