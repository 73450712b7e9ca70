"""Synthetic items, as many as asked for, that keep the word statistics of real ones.

A synthetic item takes the length, kind and family of a real one; its text is put together from sentences of real items
of the same kind and family, its derived record from two real records. Sentences alone would hold the vocabulary still,
so words are coined at the rate at which the real vocabulary grows (Heaps' law, fitted), and coined words come back.

Vectors are those of real items' heads plus noise, scaled to unit length: embedding 100,000 texts would take half an
hour on two cores, and searching does not depend on where a vector came from. Everything follows from the seed.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from app.memory.derivation_recipe import fingerprint
from app.memory.identity import text_hash
from app.memory.kernels import kernel_code
from app.records import Item
from app.retrieval.embedder import Vectors, unit
from app.store import corpus, derived, embeddings, items
from app.store.database import Database
from app.store.derived import Underived
from app.store.embeddings import Unembedded
from eval.originals import Originals
from eval.word_statistics import Growth, growth, words

BATCH = 2000
NOISE = 0.5
"""Length of the noise beside a unit vector: a synthetic item has cosine 0.9 to the head that it was made from."""

FEWEST_SOURCES = 3
"""Items of a kind and family that must exist for the family to be a pool of its own."""

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
_MADE = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Synthetic:
    """One synthetic item with what would be derived from it."""

    item: Item
    vector: Vectors
    record: Mapping[str, Any]


class Generator:
    """Makes items one after another; the same originals and seed give the same items."""

    def __init__(self, originals: Originals, seed: int = 0) -> None:
        self._originals = originals
        self._random = random.Random(seed)
        self._noise = np.random.default_rng(seed)
        self._families = originals.families()
        self._heads: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._bodies: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._rows: dict[tuple[str, str], list[int]] = defaultdict(list)
        for row, item in enumerate(originals.items):
            first, *rest = [part for part in _SENTENCE_END.split(item.text.strip()) if part]
            for pool in {(item.kind.value, self._families[row]), (item.kind.value, "")}:
                self._heads[pool].append(first)
                self._bodies[pool].extend(rest or [first])
                self._rows[pool].append(row)
        texts = [item.text for item in originals.items]
        self._growth: Growth = growth(self._shuffled(texts))
        self._tokens = sum(len(words(text)) for text in texts)
        self._vocabulary = len({word for text in texts for word in words(text)})
        self._coined: list[str] = []
        self._made = 0

    def _shuffled(self, texts: Sequence[str]) -> list[str]:
        """In an order of its own, so that the growth of the vocabulary is not that of one kind after another."""
        return self._random.sample(texts, len(texts))

    def make(self, count: int) -> Iterator[Synthetic]:
        """The next `count` items."""
        for _ in range(count):
            row = self._random.randrange(len(self._originals.items))
            text = self._text(row)
            self._made += 1
            yield Synthetic(self._item(row, text), self._vector(row), self._record(row, text))

    def _pool(self, row: int) -> tuple[str, str]:
        pool = (self._originals.items[row].kind.value, self._families[row])
        return pool if len(self._rows[pool]) >= FEWEST_SOURCES else (pool[0], "")

    def _text(self, row: int) -> str:
        """As long as the real item, from sentences of its pool, with words coined where they are due."""
        pool, length = self._pool(row), len(self._originals.items[row].text)
        parts = [self._random.choice(self._heads[pool])]
        total = len(parts[0])
        while total < length:
            sentence = self._random.choice(self._bodies[pool])
            if total + len(sentence) / 2 > length:
                break
            parts.append(sentence)
            total += len(sentence) + 1
        return self._with_new_words(" ".join(parts))

    def _with_new_words(self, text: str) -> str:
        pieces = text.split(" ")
        self._tokens += len(pieces)
        due = int(self._growth.vocabulary(self._tokens)) - self._vocabulary - len(self._coined)
        for _ in range(min(due, len(pieces) // 8)):
            place = self._rare_place(pieces)
            if self._coined:
                pieces[self._rare_place(pieces)] = self._random.choice(self._coined)
            pieces[place] = self._coin(pieces[place])
        return " ".join(pieces)

    def _rare_place(self, pieces: Sequence[str]) -> int:
        """A place where a name, a number or a long word stands: what a real corpus goes on adding."""
        place = 0
        for _ in range(4):
            place = self._random.randrange(len(pieces))
            if len(pieces[place]) > 7 or any(letter.isdigit() for letter in pieces[place]):
                break
        return place

    def _coin(self, word: str) -> str:
        stem = "".join(letter for letter in word if letter.isalpha())[:6].lower()
        number, suffix = len(self._coined), ""
        while True:
            number, digit = divmod(number, 20)
            suffix += "bcdfghjklmnpqrstvwxz"[digit]
            if not number:
                break
        coined = f"{stem}y{suffix}" if stem else str(10_000 + len(self._coined))
        self._coined.append(coined)
        return coined

    def _item(self, row: int, text: str) -> Item:
        original = self._originals.items[row]
        code = original.kernel
        return replace(
            original,
            id=f"syn-{self._made:06d}",
            position=100_000 + self._made,
            text=text,
            content_hash=text_hash(text),
            helpful=self._random.choice(self._originals.items).helpful,
            harmful=self._random.choice(self._originals.items).harmful,
            family=self._families[row] or None,
            applies_when=None,
            provenance={"origin": "synthetic"},
            version=1,
            created_at=_MADE,
            updated_at=_MADE,
            kernel=kernel_code(f"{code.source}\n# {self._made}\n") if code is not None else None,
        )

    def _vector(self, row: int) -> Vectors:
        vector = self._originals.vectors[row]
        noise = self._noise.standard_normal(vector.shape[0], dtype=np.float32)
        made: Vectors = unit((vector + NOISE * noise / np.sqrt(vector.shape[0]))[None, :].astype(np.float32))[0]
        return made

    def _record(self, row: int, text: str) -> Mapping[str, Any]:
        """The original's record with the optional operations and regimes of another one of its pool."""
        own = self._originals.records[row]
        other = self._originals.records[self._random.choice(self._rows[self._pool(row)])]
        taken = {"optional": other.get("optional", []), "regimes": other.get("regimes", []), "one_line": text[:200]}
        return {**own, **taken}


def fill(database: Database, model_id: str, generator: Generator, count: int) -> None:
    """Writes `count` synthetic items with vectors and records, BATCH of them in one transaction."""
    for begun in range(0, count, BATCH):
        batch = list(generator.make(min(BATCH, count - begun)))
        with database.write() as session:
            version = corpus.advance(session)
            items.add_all(session, [made.item for made in batch], changed_in=version)
            vectors = [(Unembedded(m.item.id, m.item.text, m.item.content_hash), m.vector) for m in batch]
            embeddings.put(session, model_id, vectors)
            derived.put(session, fingerprint(), [(_underived(made.item), made.record) for made in batch])


def _underived(item: Item) -> Underived:
    return Underived(item.id, item.kind, item.text, item.content_hash, item.family, item.source_problem)
