"""Reads the vocabulary's JSON files into one frozen `Lexicon` and refuses inconsistent data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import product
from types import MappingProxyType
from typing import Any

from app.memory.lexicon.values import Lexicon, Operation, PhrasePattern, SymbolPattern
from app.memory.lexicon.words import normalise, stem, tokenise

_ORDERS = {"=": "contiguous", ">": "sequence"}
DIMENSIONED = "{d}"  # a phrasing such as "conv{d}" leaves the number of dimensions to the reader


class LexiconError(ValueError):
    """The vocabulary's data files contradict each other."""


@cache
def load_lexicon() -> Lexicon:
    """Return the vocabulary, read once per process.

    Raises:
        LexiconError: a phrasing, alias, member or compatibility names something the vocabulary does not define.
    """
    vocabulary = _read("vocabulary.json")
    spoken = _read("phrasings.json")
    short = _read("short_names.json")
    operations = {name: _operation(name, entry) for name, entry in vocabulary["operations"].items()}
    families = tuple(vocabulary["families"])
    classes = {name: tuple(words) for name, words in spoken["word_classes"].items()}
    patterns = tuple(_patterns(spoken["operations"], classes))
    names = _names(operations, short["names"], short["ignored"])
    silent = frozenset(_key(form) for form in short["silent"])
    lexicon = Lexicon(
        operations=MappingProxyType(operations),
        families=families,
        compatibility=MappingProxyType(_compatibility(vocabulary["family_compatibility"])),
        regimes=MappingProxyType(dict(vocabulary["regimes"])),
        topics=MappingProxyType({name: str(text) for name, text in vocabulary["topics"].items()}),
        patterns=patterns,
        patterns_by_stem=MappingProxyType(_by_stem(patterns)),
        names=MappingProxyType(names),
        longest_name=MappingProxyType(_longest((*names, *silent))),
        symbols=tuple(SymbolPattern(name, re.compile(expression)) for name, expression in short["symbols"]),
        phrasings=tuple(_sentences(operations, spoken["sentences"])),
        function_words=frozenset(short["function_words"]),
        enlarging=re.compile(short["enlarging"]),
        weak_names=frozenset(short["weak_names"]),
        regime_words=tuple((name, re.compile(expression)) for name, expression in short["regime_words"]),
        silent=silent,
        negations=MappingProxyType(_by_first_word(short["negations"])),
        craft=(re.compile(short["craft"][0]), re.compile(short["craft"][1])),
    )
    _check(lexicon)
    return lexicon


def _read(name: str) -> dict[str, Any]:
    text = files("app.memory.lexicon").joinpath(name).read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def _operation(name: str, entry: Mapping[str, Any]) -> Operation:
    return Operation(
        name=name,
        kind=entry["kind"],
        aliases=tuple(entry["aliases"]),
        mathematics=entry["mathematics"],
        members=tuple(entry.get("members", ())),
        expands_to=tuple(entry.get("expands_to", ())),
    )


def _compatibility(table: Mapping[str, float]) -> dict[tuple[str, str], float]:
    both: dict[tuple[str, str], float] = {}
    for pair, degree in table.items():
        left, right = pair.split("|")
        both[left, right] = both[right, left] = float(degree)
    return both


def _patterns(table: Mapping[str, Iterable[str]], classes: Mapping[str, tuple[str, ...]]) -> Iterator[PhrasePattern]:
    for operation, sources in table.items():
        for source in sources:
            yield _pattern(operation, source, classes)


def _pattern(operation: str, source: str, classes: Mapping[str, tuple[str, ...]]) -> PhrasePattern:
    """Compile one phrasing: elements split by spaces, alternatives by ``|``, ``@class``, ``!forbidden``.

    A leading ``=`` asks for neighbouring words in order, a leading ``>`` for words in order with gaps.
    """
    order = _ORDERS.get(source[:1], "any")
    groups: list[frozenset[str]] = []
    forbidden: set[str] = set()
    for element in source.lstrip("=>").split():
        target = element.removeprefix("!")
        words = [word for part in target.split("|") for word in (classes[part[1:]] if part[0] == "@" else (part,))]
        stems = frozenset(
            word if word[0].isdigit() else stem(token) for word in words for token in normalise(word).split()
        )
        if element[0] == "!":
            forbidden |= stems
        else:
            groups.append(stems)
    return PhrasePattern(operation, tuple(groups), frozenset(forbidden), order, source)


def _by_stem(patterns: Iterable[PhrasePattern]) -> dict[str, tuple[PhrasePattern, ...]]:
    """File patterns under every stem of their smallest group, so that a text only tries patterns it could match."""
    table: dict[str, list[PhrasePattern]] = {}
    for pattern in patterns:
        for word in min(pattern.groups, key=len):
            table.setdefault(word, []).append(pattern)
    return {word: tuple(found) for word, found in table.items()}


def _names(
    operations: Mapping[str, Operation], short: Mapping[str, Iterable[str]], ignored: Iterable[str]
) -> dict[tuple[str, ...], str]:
    """Map the tokens of every name, alias and abbreviation to its operation; abbreviations win, ignored forms go."""
    names: dict[tuple[str, ...], str] = {}
    for operation in operations.values():
        if not operation.is_set:
            for alias in (operation.name.replace("_", " "), operation.name.replace("_", ""), *operation.aliases):
                names.setdefault(_key(alias), operation.name)
    for target, forms in short.items():
        for form in forms:
            for dimension in ("1d", "2d", "3d") if DIMENSIONED in target and "#" in form else ("",):
                name = target.replace(DIMENSIONED, dimension) if dimension else target
                names[_key(form.replace("#", dimension))] = name
    for form in (*ignored, ""):
        names.pop(_key(form), None)
    return names


def _longest(keys: Iterable[tuple[str, ...]]) -> dict[str, int]:
    """Return the length in tokens of the longest name that starts with each token."""
    longest: dict[str, int] = {}
    for key in keys:
        longest[key[0]] = max(longest.get(key[0], 0), len(key))
    return longest


def _by_first_word(phrases: Iterable[str]) -> dict[str, tuple[tuple[str, ...], ...]]:
    table: dict[str, tuple[tuple[str, ...], ...]] = {}
    for phrase in phrases:
        words = _key(phrase)
        table[words[0]] = (*table.get(words[0], ()), words)
    return table


def _key(form: str) -> tuple[str, ...]:
    return tuple(token.text for token in tokenise(normalise(form)))


def _sentences(operations: Mapping[str, Operation], extra: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, str]]:
    """Yield (operation, phrasing) pairs for the embedding fallback: the mathematics, then everyday sentences."""
    for operation in operations.values():
        if not operation.is_set:
            yield operation.name, operation.mathematics
    for name, sentences in extra.items():
        for sentence in sentences:
            yield name, sentence


def _check(lexicon: Lexicon) -> None:
    known = set(lexicon.operations)

    def unknown(names: Iterable[str]) -> set[str]:
        expanded = {name.replace(DIMENSIONED, d) for name, d in product(names, ("1d", "2d", "3d"))}
        return expanded - known

    for operation in lexicon.operations.values():
        if missing := unknown((*operation.members, *operation.expands_to)):
            raise LexiconError(f"operation {operation.name} refers to unknown {sorted(missing)}")
    spoken = [pattern.operation for pattern in lexicon.patterns]
    spoken += [
        *lexicon.names.values(),
        *(s.operation for s in lexicon.symbols),
        *(name for name, _ in lexicon.phrasings),
    ]
    if missing := unknown(spoken):
        raise LexiconError(f"phrasings for unknown operations {sorted(missing)}")
    if missing := {name for pair in lexicon.compatibility for name in pair} - set(lexicon.families):
        raise LexiconError(f"compatibility of unknown families {sorted(missing)}")
