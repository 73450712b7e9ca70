"""Vectors on disk: one file with its recipe inside, so that a start need not read every vector from SQL."""

import json
import logging
import os
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from app.errors import WrongEmbedder
from app.retrieval.embedder import Vectors

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What the vectors were made from."""

    model_id: str
    dimension: int
    corpus_version: int
    database: str
    """Fingerprint of the database; the vectors of another one are of no use."""


@dataclass(frozen=True, slots=True)
class IndexFile:
    """The content of an index file: vectors[i] belongs to ids[i]."""

    recipe: Recipe
    ids: Sequence[str]
    vectors: Vectors


def save(path: Path, content: IndexFile) -> bool:
    """Replaces the file in one step; False where the folder cannot be written, which costs only start-up time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".new")
    except OSError as fault:
        log.warning("the vector index is not kept on disk: %s", fault)
        return False
    try:
        with os.fdopen(descriptor, "wb") as file:
            recipe = json.dumps(asdict(content.recipe))
            np.savez(file, recipe=np.array(recipe), ids=np.array(content.ids, dtype=np.str_), vectors=content.vectors)
        os.replace(name, path)
    except OSError as fault:
        log.warning("the vector index is not kept on disk: %s", fault)
        Path(name).unlink(missing_ok=True)
        return False
    return True


def load(path: Path, model_id: str, dimension: int, database: str) -> IndexFile | None:
    """The file's content; None where there is none, it is damaged, or it belongs to another database.

    Raises WrongEmbedder where the vectors are of another model or dimension.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            recipe = Recipe(**json.loads(str(arrays["recipe"])))
            content = IndexFile(recipe, arrays["ids"].tolist(), arrays["vectors"].astype(np.float32))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as fault:
        log.warning("the vector index %s is damaged (%s) and is made anew", path, fault)
        return None
    if recipe.database != database:
        return None
    if (recipe.model_id, recipe.dimension) != (model_id, dimension):
        raise WrongEmbedder(
            f"The index file comes from {recipe.model_id} ({recipe.dimension} dimensions), the embedder is {model_id} "
            f"({dimension}). Run `playbook reindex`, or set PLAYBOOK_EMBEDDER back."
        )
    if content.vectors.shape != (len(content.ids), dimension):
        log.warning("the vector index %s is damaged (shape %s) and is made anew", path, content.vectors.shape)
        return None
    return content
