"""Items that say the very same thing: equal texts, and one rule told once per name.

Neither rule has a threshold to tune. Texts are equal up to case, spacing and closing punctuation, kernels up to the
spacing of their code. A rule is one rule when nothing differs but names: what stands in quotes or backticks, or is
spelt as code (`a.b`, `a_b`, `aB1`). Plain numbers are left alone, because two measurements are two facts. At least
`FEWEST_WORDS` ordinary words must agree, so that a mere label with a name in it is no rule.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

from app.memory.findings.finding import Finding, listed, merge_of, quoted
from app.memory.findings.reading import Reading
from app.memory.identity import normalised
from app.vocabulary import FindingKind

FEWEST_WORDS = 4

_NAME = re.compile(
    r"`[^`\n]{1,80}`|\"[^\"\n]{1,80}\"|(?<!\w)'[^'\n]{1,80}'(?!\w)"
    r"|\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\b|\b\w*[A-Za-z]_\w+\b|\b[a-z]+[A-Z]\w*\b"
)
_SLOT = "\x00"
_WORD = re.compile(r"[^\W\d_]{2,}")


def exact_duplicates(read: Iterable[Reading]) -> list[Finding]:
    """Items of one kind with equal texts or equal code. Equal advice for different families is left to a person."""
    groups: dict[Hashable, list[Reading]] = defaultdict(list)
    for reading in read:
        if same := _sameness(reading):
            groups[reading.item.kind, same].append(reading)
    found = []
    for members in groups.values():
        if len(members) < 2:
            continue
        ids = tuple(reading.item.id for reading in members)
        what = quoted(members[0].item.text)
        scopes = {(reading.item.family, reading.item.source_problem) for reading in members}
        operation = merge_of(reading.item for reading in members) if len(scopes) == 1 else None
        told = "" if operation else " They differ in family or source problem."
        kind = "the same code" if members[0].item.kernel else "the same text"
        found.append(Finding(FindingKind.EXACT_DUPLICATE, ids, f"{listed(ids)} hold {kind}: {what}.{told}", operation))
    return found


def one_rules(read: Iterable[Reading]) -> list[Finding]:
    """Items of one kind and family whose texts differ in names only."""
    groups: dict[Hashable, list[Reading]] = defaultdict(list)
    for reading in read:
        pattern = _NAME.sub(_SLOT, _folded(reading.item.text))
        if reading.is_prose and _SLOT in pattern and len(_WORD.findall(pattern)) >= FEWEST_WORDS:
            groups[reading.item.kind, reading.item.family, pattern.casefold()].append(reading)
    found = []
    for members in groups.values():
        names = [_NAME.findall(_folded(reading.item.text)) for reading in members]
        if len({tuple(each) for each in names}) < 2:
            continue
        ids = tuple(reading.item.id for reading in members)
        differing = [slot for slot in zip(*names, strict=True) if len(set(slot)) > 1]
        text = _joined(members[0].item.text, names[0], differing)
        told = "; ".join(listed(dict.fromkeys(slot)) for slot in differing)
        evidence = f"{listed(ids)} are one rule with different names filled in ({told}): {quoted(members[0].item.text)}"
        operation = merge_of((reading.item for reading in members), text)
        found.append(Finding(FindingKind.ONE_RULE, ids, evidence, operation))
    return found


def _joined(text: str, names: Sequence[str], differing: Sequence[tuple[str, ...]]) -> str | None:
    """The rule told once with all its names, where only one place differs and that name occurs once."""
    if len(differing) != 1 or text.count(differing[0][0]) != 1 or names.count(differing[0][0]) != 1:
        return None
    return text.replace(differing[0][0], ", ".join(dict.fromkeys(differing[0])))


def _folded(text: str) -> str:
    return " ".join(normalised(text).replace(_SLOT, " ").split())


def _sameness(reading: Reading) -> str:
    if reading.item.kernel is not None:
        return " ".join(reading.item.kernel.source.split())
    return _folded(reading.item.text).casefold().rstrip(" .;!")
