"""A lexical index on disk: derived from texts, with a key of them, so that a start need not split them.

Any other key, a damaged file, or none at all costs the time to make the index anew, and nothing else.
"""

import hashlib
import logging
import os
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from app.retrieval.lexical import LexicalIndex, postings_of

log = logging.getLogger(__name__)

RULES = 1
"""Number of the rules that split texts; raise it when app.retrieval.words or app.retrieval.lexical changes."""


def key_of(texts: Iterable[tuple[str, str]]) -> str:
    """Key of an index over texts in their order, each an id and the hash of its text."""
    digest = hashlib.sha256(str(RULES).encode())
    for item_id, text_hash in texts:
        digest.update(f"{item_id}\0{text_hash}\0".encode())
    return digest.hexdigest()


def save(path: Path, key: str, index: LexicalIndex) -> None:
    """Replaces the file in one step; a folder that cannot be written costs only start-up time."""
    base = index.base
    words = np.frombuffer("\n".join(base.places).encode(), dtype=np.uint8)
    name = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".new")
        with os.fdopen(descriptor, "wb") as file:
            np.savez(
                file,
                key=np.array(key),
                words=words,
                starts=base.starts,
                rows=base.rows,
                counts=base.counts,
                lengths=index.lengths,
            )
        os.replace(name, path)
    except OSError as fault:
        log.warning("the lexical index is not kept on disk: %s", fault)
        if name:
            Path(name).unlink(missing_ok=True)


def load(path: Path, key: str) -> LexicalIndex | None:
    """The index of that key, or None where the file holds another one, is damaged, or does not exist."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            if str(arrays["key"]) != key:
                return None
            words = arrays["words"].tobytes().decode().split("\n") if len(arrays["words"]) else []
            starts, rows, counts = arrays["starts"], arrays["rows"], arrays["counts"]
            lengths = arrays["lengths"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as fault:
        log.warning("the lexical index %s is damaged (%s) and is made anew", path, fault)
        return None
    if len(starts) != len(words) + 1 or len(rows) != len(counts) or (len(starts) and int(starts[-1]) != len(rows)):
        log.warning("the lexical index %s is damaged (lengths differ) and is made anew", path)
        return None
    places = {word: place for place, word in enumerate(words)}
    base = postings_of(len(lengths), places, starts, rows, counts)
    return LexicalIndex(lengths, base, {}, np.empty(0, dtype=np.int32), {})
