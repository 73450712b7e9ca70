"""An embedder for tests: words hashed into a vector. Real similarity of words, no understanding, no model."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from app.retrieval.embedder import Vectors, encodable, unit

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Bag of words, each word at a place and sign given by its hash."""

    model_id = "hashing-1"
    dimension = 64

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), 64)."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _WORD.findall(encodable(text).lower()) or ["?"]:
                digest = hashlib.blake2b(word.encode(), digest_size=4).digest()
                vectors[row, digest[0] % self.dimension] += 1 if digest[1] % 2 else -1
        return unit(vectors)
