"""Orders that several partial listings agree on."""

from collections.abc import Hashable, Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def merged_order(listings: Iterable[Sequence[T]], known: Sequence[T] = ()) -> list[T]:
    """One order that keeps every listing's own; where they leave it open, the `known` order, then first sight decides.

    Where listings contradict each other, the order of first sight is taken.
    """
    chains = {tuple(listing): None for listing in listings}
    by_length = sorted(chains, key=len, reverse=True)
    first_seen = list(dict.fromkeys([*known, *(item for chain in by_length for item in chain)]))
    pairs = {(before, after) for chain in chains for before, after in pairwise(chain)}
    return ordered_by(first_seen, pairs)


def ordered_by(items: Sequence[T], pairs: Iterable[tuple[T, T]]) -> list[T]:
    """The items with `before` ahead of `after` for each pair, otherwise as they stand; as they stand on a cycle."""
    place = {item: index for index, item in enumerate(items)}
    sorter = TopologicalSorter[T](dict.fromkeys(items, ()))
    for before, after in pairs:
        sorter.add(after, before)
    ordered: list[T] = []
    try:
        sorter.prepare()
        waiting = list(sorter.get_ready())
        while waiting:
            waiting.sort(key=place.__getitem__)
            item = waiting.pop(0)
            ordered.append(item)
            sorter.done(item)
            waiting.extend(sorter.get_ready())
    except CycleError:
        return list(items)
    return ordered
