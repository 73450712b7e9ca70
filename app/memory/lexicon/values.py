"""Frozen values of the vocabulary. They hold data only; `loader` builds and checks them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation a task may contain, e.g. ``group_norm``, or a set term, e.g. ``any_activation``.

    `members` is empty except for set terms. `expands_to` lists the simpler chain that a composite usually stands for.
    """

    name: str
    kind: str
    aliases: tuple[str, ...]
    mathematics: str
    members: tuple[str, ...] = ()
    expands_to: tuple[str, ...] = ()

    @property
    def is_set(self) -> bool:
        """Whether the name stands for several operations."""
        return bool(self.members)


@dataclass(frozen=True, slots=True)
class PhrasePattern:
    """An everyday phrasing: groups of word stems that must all occur close together.

    `order` is ``contiguous`` (neighbouring words in the given order), ``sequence`` (in the given order, with gaps) or
    ``any``. `forbidden` stems veto a match when they stand in the same window. `source` is the pattern as written.
    """

    operation: str
    groups: tuple[frozenset[str], ...]
    forbidden: frozenset[str]
    order: str
    source: str


@dataclass(frozen=True, slots=True)
class SymbolPattern:
    """A formula fragment of a terse note or paraphrase, e.g. ``x*sigmoid(x)``, as a compiled expression."""

    operation: str
    expression: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The whole vocabulary. Built once by `load_lexicon`; nothing changes it afterwards."""

    operations: Mapping[str, Operation]
    families: tuple[str, ...]
    compatibility: Mapping[tuple[str, str], float]
    regimes: Mapping[str, str]
    topics: Mapping[str, str]
    patterns: tuple[PhrasePattern, ...]
    patterns_by_stem: Mapping[str, tuple[PhrasePattern, ...]]
    names: Mapping[tuple[str, ...], str]
    longest_name: Mapping[str, int]
    symbols: tuple[SymbolPattern, ...]
    phrasings: tuple[tuple[str, str], ...]
    function_words: frozenset[str]
    weak_names: frozenset[str]
    enlarging: re.Pattern[str]
    regime_words: tuple[tuple[str, re.Pattern[str]], ...]
    silent: frozenset[tuple[str, ...]]
    negations: Mapping[str, tuple[tuple[str, ...], ...]]
    craft: tuple[re.Pattern[str], re.Pattern[str]]
    """What only people who write kernels say, and what they and others say."""

    def family_compatibility(self, left: str, right: str) -> float:
        """Return how far advice for one family serves the other, in [0, 1]; 1 for the same family, 0 if unrelated."""
        if left == right:
            return 1.0
        return self.compatibility.get((left, right), 0.0)

    def members(self, term: str) -> tuple[str, ...]:
        """Return the operations a term stands for: those of a set term, else the term itself.

        Raises:
            KeyError: the term is no operation of the vocabulary.
        """
        operation = self.operations[term]
        return operation.members or (operation.name,)

    def kind(self, name: str) -> str:
        """Return the kind of an operation, e.g. ``gemm`` or ``normalisation``; '' for an unknown name."""
        operation = self.operations.get(name)
        return operation.kind if operation else ""
