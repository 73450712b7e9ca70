"""The peers of a comparison, each behind the same two calls: made from items and vectors, asked for the nearest ids.

A peer's own search code runs; only what it would fetch from a network is put in its place. What was set differently
from its defaults, and why, stands in `settings`.
"""

import hashlib
import importlib
import importlib.util
import os
import tempfile
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from app.records import Item
from app.retrieval.embedder import Embedder, Vectors

USER = "benchmark"

# mem0 reads these once, when it is imported: nothing is reported to anyone, and no folder is made in the home folder.
os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=os.path.join(tempfile.gettempdir(), "mem0-benchmark"))


class Search(Protocol):
    """Ids of the best items for a task, best first."""

    def __call__(self, text: str, top_k: int) -> list[str]:
        """At most `top_k` ids."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One way to search, and how to set it up over items with their whole-text vectors."""

    name: str
    package: str | None
    """Module without which the peer is skipped."""
    settings: str
    build: Callable[[Sequence[Item], Vectors, Embedder], Search]

    def missing(self) -> str | None:
        """Why the peer cannot run here, or None."""
        if self.package is None:
            return None
        try:
            importlib.import_module(self.package)
        except ImportError as fault:
            return f"{self.package} cannot be imported: {fault}"
        return None


def plain_faiss(items: Sequence[Item], vectors: Vectors, embedder: Embedder) -> Search:
    """The textbook design: cosine of whole texts."""
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors))
    ids = [item.id for item in items]

    def search(text: str, top_k: int) -> list[str]:
        _, rows = index.search(embedder.encode([text]), top_k)
        return [ids[row] for row in rows[0] if row >= 0]

    return search


def bm25s(items: Sequence[Item], vectors: Vectors, embedder: Embedder) -> Search:
    """BM25 alone, by the bm25s library."""
    import bm25s as library

    index = library.BM25()
    index.index(
        library.tokenize([item.text for item in items], stopwords="en", show_progress=False), show_progress=False
    )
    ids = [item.id for item in items]

    def search(text: str, top_k: int) -> list[str]:
        asked = library.tokenize(text, stopwords="en", show_progress=False)
        rows, _ = index.retrieve(asked, k=min(top_k, len(ids)), show_progress=False)
        return [ids[int(row)] for row in rows[0]]

    return search


def ace_framework(items: Sequence[Item], vectors: Vectors, embedder: Embedder) -> Search:
    """ace-framework's `retrieve_top_k`: BM25 and cosine fused by reciprocal rank."""
    from ace.core.skillbook import Skillbook
    from ace.deduplication.detector import SimilarityDetector
    from ace.protocols.deduplication import DeduplicationConfig

    retrieve_top_k = _skill_rendering().retrieve_top_k

    class Detector(SimilarityDetector):  # type: ignore[misc]
        def compute_embedding(self, text: str) -> list[float]:
            return [float(value) for value in embedder.encode([text])[0]]

    book = Skillbook()
    for item, vector in zip(items, vectors, strict=True):
        # A "harness" skill is its issue alone, so that what is searched is the item's text once and nothing else.
        book.add_skill("harness", item.text, keywords=["kernel"], skill_id=item.id).embedding = vector.tolist()
    detector = Detector(DeduplicationConfig(embedding_provider="sentence_transformers"))

    def search(text: str, top_k: int) -> list[str]:
        return [skill.id for skill in retrieve_top_k(book, text, top_k=top_k, detector=detector)]

    return search


def _skill_rendering() -> ModuleType:
    """ace's own module, loaded without the package around it, which imports a framework for calling language models."""
    found = importlib.util.find_spec("ace")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("ace")
    path = os.path.join(found.submodule_search_locations[0], "implementations", "skill_rendering.py")
    spec = importlib.util.spec_from_file_location("ace_skill_rendering", path)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mem0_faiss(items: Sequence[Item], vectors: Vectors, embedder: Embedder) -> Search:
    """mem0's `Memory.search` over its FAISS store: cosine alone, that store has no keyword search."""
    folder = tempfile.mkdtemp(prefix="peer-")
    store = {"collection_name": "items", "path": folder, "embedding_model_dims": vectors.shape[1]}
    config = {"provider": "faiss", "config": {**store, "distance_strategy": "cosine"}}
    return _mem0(config, folder, items, vectors, embedder)


def mem0_hybrid(items: Sequence[Item], vectors: Vectors, embedder: Embedder) -> Search:
    """mem0's `Memory.search` over its Qdrant store in memory: cosine and BM25 (sparse vectors by fastembed)."""
    from fastembed import SparseTextEmbedding
    from qdrant_client import QdrantClient

    folder = tempfile.mkdtemp(prefix="peer-")
    with open(os.path.join(folder, "english.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(_ENGLISH_STOPWORDS))
    encoder = SparseTextEmbedding("Qdrant/bm25", specific_model_path=folder)
    store = {"client": QdrantClient(":memory:"), "collection_name": "items", "embedding_model_dims": vectors.shape[1]}
    config = {"provider": "qdrant", "config": store}
    return _mem0(config, folder, items, vectors, embedder, encoder)


def _mem0(
    store: dict[str, Any],
    folder: str,
    items: Sequence[Item],
    vectors: Vectors,
    embedder: Embedder,
    bm25: Any = None,
) -> Search:
    from mem0 import Memory
    from mem0.configs.base import MemoryConfig

    model = {"provider": "openai", "config": {"api_key": "never called"}}
    memory = Memory(MemoryConfig(vector_store=store, llm=model, embedder=model, history_db_path=f"{folder}/history.db"))
    memory.embedding_model = _Mem0Embedder(embedder)
    if bm25 is not None:
        memory.vector_store._bm25_encoder = bm25
    ids = {str(uuid.uuid5(uuid.NAMESPACE_OID, item.id)): item.id for item in items}
    memory.vector_store.insert([v.tolist() for v in vectors], [_payload(item) for item in items], list(ids))

    def search(text: str, top_k: int) -> list[str]:
        found = memory.search(text, top_k=top_k, filters={"user_id": USER}, threshold=0.0)
        return [ids[result["id"]] for result in found["results"]]

    return search


class _Mem0Embedder:
    """Our embedder with the methods that mem0 calls."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return [float(value) for value in self._embedder.encode([text])[0]]

    def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
        return [self.embed(text) for text in texts]


def _payload(item: Item) -> dict[str, Any]:
    """What mem0 itself stores beside a vector."""
    now = datetime.now(UTC).isoformat()
    digest = hashlib.md5(item.text.encode(), usedforsecurity=False).hexdigest()
    same = {"data": item.text, "text_lemmatized": item.text}
    return {**same, "hash": digest, "created_at": now, "updated_at": now, "user_id": USER}


_ENGLISH_STOPWORDS = (
    "i me my we our you your he him his she her it its they them their what which who this that these those am is are "
    "was were be been being have has had do does did a an the and but if or because as until while of at by for with "
    "about against between into through during before after above below to from up down in out on off over under again "
    "further then once here there when where why how all any both each few more most other some such no nor not only "
    "own same so than too very s t can will just don should now"
).split()

PEERS = (
    Peer(
        "mem0ai, FAISS", "mem0", "Memory.search, FAISS store, cosine, threshold 0; no language model called", mem0_faiss
    ),
    Peer(
        "mem0ai, hybrid",
        "fastembed",
        "Memory.search, Qdrant in memory, threshold 0; BM25 by fastembed with the stop words given from here, because "
        "its own are fetched from a network; without spaCy's model, so no lemmas and no entities",
        mem0_hybrid,
    ),
    Peer(
        "ace-framework",
        "ace.deduplication",
        "retrieve_top_k without sections or keywords, BM25 by rank-bm25, each item one skill, vectors computed "
        "beforehand, the same sentence model in its detector",
        ace_framework,
    ),
    Peer("MiniLM + FAISS", "faiss", "whole text embedded, flat inner product", plain_faiss),
    Peer("bm25s", "bm25s", "defaults (Lucene, k1 1.5, b 0.75), English stop words", bm25s),
)
