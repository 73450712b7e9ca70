"""Items of one kind that tell nearly the same thing.

Two items are near when one of these holds, strongest evidence first:

- They report on one problem and share `SAME_PROBLEM` of their words: the share from which a context already leaves one
  of them out as a repeat.
- They report on one problem, share `SAME_EXPERIMENT` of their words, and half of the measured figures of the shorter
  one, at least one of which hardly anybody else gives (`RARE`). Independent attempts never measure the same decimals.
- Their problems are not known to differ, they share `RETOLD_FIGURES` rare figures that are most (`RETOLD_SHARE`) of
  the figures of one of them, and `RETOLD_WORDS` of their words: one experiment retold at another length.
- They share half of their words (`ANYWHERE`), each word counted by its rarity, whatever their problems. Reports that
  follow one template stay below, because the words of a template are not rare.
- Their vectors have a cosine of `ALIKE` on one problem, or of `ALIKE_ANYWHERE`. With MiniLM, retellings of one
  experiment reach 0.90, and reports that follow one template reach 0.96 on different problems.

Pairs are not compared all with all: an item meets those of its problem, those with one of its rare figures, and those
with one of its rarest words. The last is exact for `ANYWHERE`: two texts that share half of their weight share a word
among the rarest that make up the other half. Only a crowd of more than `CROWD` items is passed over.
"""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from app.memory.duplicates import LIKENESS_SAME_SOURCE, likeness
from app.memory.findings.finding import Finding, listed, merge_of
from app.memory.findings.reading import Rarities, Reading, rarities
from app.vocabulary import FindingKind

SAME_PROBLEM = LIKENESS_SAME_SOURCE
SAME_EXPERIMENT = 0.3
SHARE_OF_FIGURES = 0.5
RARE = 4
RETOLD_FIGURES = 5
RETOLD_SHARE = 0.6
RETOLD_WORDS = 0.4
ANYWHERE = 0.5
ALIKE = 0.9
ALIKE_ANYWHERE = 0.97
CROWD = 24
ROWS_AT_ONCE = 1024

Vectors = Mapping[str, npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class _Near:
    """Two items, how alike they are (in [0, 1]) and why they count as near."""

    likeness: float
    left: Reading
    right: Reading
    reason: str


def near_duplicates(read: Sequence[Reading], vectors: Vectors, told: Collection[frozenset[str]]) -> list[Finding]:
    """Pairs of near items, less those inside the groups that are `told` already.

    Of several items that are all alike, each is reported once, with the one most like it.
    """
    prose = [reading for reading in read if reading.is_prose and reading.words]
    rarity = rarities(reading.words for reading in prose)
    carriers: dict[str, int] = defaultdict(int)
    for reading in prose:
        for figure in reading.figures:
            carriers[figure] += 1
    near = [
        pair for left, right in _meetings(prose, rarity, carriers) if (pair := _judged(left, right, rarity, carriers))
    ]
    near += _alike(prose, vectors)
    groups = _Groups(told)
    chosen = sorted(near, key=lambda pair: (-pair.likeness, pair.left.item.id, pair.right.item.id))
    return [_finding(pair) for pair in chosen if groups.join(pair.left.item.id, pair.right.item.id)]


def _judged(left: Reading, right: Reading, rarity: Rarities, carriers: Mapping[str, int]) -> _Near | None:
    alike = likeness(left.words, right.words)
    shared = sorted(left.figures & right.figures)
    rare = [figure for figure in shared if carriers[figure] <= RARE]
    fewer = min(len(left.figures), len(right.figures))
    part = len(shared) / fewer if fewer else 0.0
    figures = f" and both give {listed(rare[:4])}" if rare else ""
    known = left.problem is not None and right.problem is not None
    reason = None
    if known and left.problem == right.problem:
        if alike >= SAME_PROBLEM or (rare and part >= SHARE_OF_FIGURES and alike >= SAME_EXPERIMENT):
            reason = f"both report on {left.problem}, share {alike:.0%} of their words{figures}"
    elif not known and len(rare) >= RETOLD_FIGURES and part >= RETOLD_SHARE and alike >= RETOLD_WORDS:
        reason = f"share {alike:.0%} of their words{figures}"
    if reason is None and 2 * alike >= ANYWHERE:
        weighed = rarity.weigh(left.words & right.words) / rarity.weigh(left.words | right.words)
        if weighed >= ANYWHERE:
            rarest = sorted(left.words & right.words, key=lambda word: (-rarity[word], word))[:5]
            reason = f"share {weighed:.0%} of their words by weight, among them {listed(rarest)}"
    return _Near(alike, left, right, reason) if reason else None


def _meetings(
    prose: Sequence[Reading], rarity: Rarities, carriers: Mapping[str, int]
) -> Iterator[tuple[Reading, Reading]]:
    """The pairs that are worth comparing, each once."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for number, reading in enumerate(prose):
        kind = reading.item.kind
        if reading.problem is not None:
            places[kind, "problem", reading.problem].append(number)
        for figure in reading.figures:
            if carriers[figure] <= RARE:
                places[kind, "figure", figure].append(number)
        for word in _rarest(reading.words, rarity):
            places[kind, "word", word].append(number)
    met = {pair for crowd in places.values() if len(crowd) <= CROWD for pair in combinations(crowd, 2)}
    return ((prose[left], prose[right]) for left, right in sorted(met))


def _rarest(words: Collection[str], rarity: Rarities) -> Iterator[str]:
    """The rarest words, which together weigh more than the part that two near texts may differ in."""
    room = (1 - ANYWHERE) * rarity.weigh(words)
    for word in sorted(words, key=lambda word: (-rarity[word], word)):
        yield word
        room -= rarity[word]
        if room < 0:
            return


def _alike(prose: Sequence[Reading], vectors: Vectors) -> Iterator[_Near]:
    """Pairs whose vectors point the same way, by blocks of one kind and one dimension."""
    blocks: dict[Hashable, list[Reading]] = defaultdict(list)
    for reading in prose:
        vector = vectors.get(reading.item.id)
        if vector is not None and vector.ndim == 1 and np.isfinite(vector).all() and vector.any():
            blocks[reading.item.kind, vector.shape[0]].append(reading)
    for members in blocks.values():
        rows = np.stack([np.asarray(vectors[reading.item.id], dtype=np.float64) for reading in members])
        rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            cosines = rows[start : start + ROWS_AT_ONCE] @ rows.T
            for row, column in np.argwhere(cosines >= ALIKE):
                left, right = members[start + int(row)], members[int(column)]
                cosine = float(cosines[row, column])
                one_problem = left.problem is not None and left.problem == right.problem
                if start + row < column and cosine >= (ALIKE if one_problem else ALIKE_ANYWHERE):
                    yield _Near(min(cosine, 1.0), left, right, f"mean nearly the same (cosine {cosine:.2f})")


class _Groups:
    """Items that are known to belong together, directly or through others."""

    def __init__(self, told: Collection[frozenset[str]]) -> None:
        self._parent: dict[str, str] = {}
        for group in told:
            first, *others = sorted(group)
            for other in others:
                self.join(first, other)

    def join(self, left: str, right: str) -> bool:
        """Puts two items into one group; False where they are in one already."""
        one, two = self._root(left), self._root(right)
        self._parent[two] = one
        return one != two

    def _root(self, item_id: str) -> str:
        while (parent := self._parent.get(item_id, item_id)) != item_id:
            item_id = parent
        return item_id


def _finding(pair: _Near) -> Finding:
    items = (pair.left.item, pair.right.item)
    ids = tuple(item.id for item in items)
    return Finding(FindingKind.NEAR_DUPLICATE, ids, f"{listed(ids)} {pair.reason}.", merge_of(items))
