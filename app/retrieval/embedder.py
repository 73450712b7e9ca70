"""The embedder port, and the choice between its adapters."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Protocol

import numpy as np
import numpy.typing as npt

from app.errors import EmbedderMissing
from app.settings import Settings
from app.vocabulary import EmbedderName

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors. `model_id` and `dimension` are known before the model is loaded."""

    @property
    def model_id(self) -> str:
        """Name that changes whenever the same text would get another vector."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimension), float32, unit length; over-long texts are cut at their end."""


def chosen_embedder(settings: Settings) -> Embedder:
    """The adapter that PLAYBOOK_EMBEDDER names; EmbedderMissing where its packages are not installed."""
    # Imported here, so that a process pays only for the model that it uses.
    try:
        match settings.embedder:
            case EmbedderName.MINILM:
                from app.retrieval.minilm import MiniLm

                return MiniLm(threads=settings.torch_threads)
            case EmbedderName.ONNX:
                from app.retrieval.onnx import OnnxMiniLm

                return OnnxMiniLm(threads=settings.torch_threads)
            case EmbedderName.HASH:
                from app.retrieval.hashing import HashingEmbedder

                return HashingEmbedder()
    except ModuleNotFoundError as fault:
        raise EmbedderMissing(
            f"The embedder {settings.embedder.value!r} needs {fault.name!r}: pip install "
            f"'kernel-playbook[{settings.embedder.value}]', or set PLAYBOOK_EMBEDDER to one that is installed."
        ) from fault


def require(*packages: str) -> None:
    """Raises ModuleNotFoundError for the first package that is not installed; imports none of them."""
    for package in packages:
        if find_spec(package) is None:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)


def unit(vectors: npt.NDArray[np.float32]) -> Vectors:
    """Rows scaled to length one; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def encodable(text: str) -> str:
    """The text as every tokenizer takes it: lone surrogates and NUL replaced, and never empty."""
    clean = text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    return clean if clean.strip() else "?"
