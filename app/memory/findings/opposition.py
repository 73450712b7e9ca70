"""Advice that forbids what other advice of the same family does.

What an item forbids is read from its imperatives ("don't", "never", "avoid", ...) up to the end of the clause; of an
item that is flagged as a prohibition and has none, from its first sentence up to the verb of its verdict. Another item
does that very thing when its own words, less what it forbids itself, cover most of the forbidden ones, each counted by
its rarity: `DOES` of them for a recipe, which tells one approach step by step, and `ADVISES` for other advice, whose
aim is less plain. `FEWEST_SHARED` words must be shared: two sentences about one operation have four words in common by
chance. Conditional imperatives ("never ... without ...") forbid nothing by themselves, and expectations ("don't
expect ...") no approach.

Only short items (`MOST_TOKENS`) are compared: a long report tells what was tried as well as what to do, and words alone
cannot say which. Code holds so many words that a kernel counts for flagged prohibitions only, and only where no recipe
tells its approach. Whether one of the two is wrong or needs a narrower scope is for a person to decide.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.memory.budget import count_tokens
from app.memory.damage import damage
from app.memory.findings.finding import Finding, listed, quoted
from app.memory.findings.reading import Rarities, Reading, holders, rarities, stems
from app.vocabulary import FindingKind, ItemKind

DOES = 0.55
ADVISES = 0.65
FEWEST_SHARED = 5
MOST_TOKENS = 160

_FORBIDS = re.compile(
    r"\b(?P<cue>do(?:n['\u2019]?t| not)|never|avoid|must not|mustn['\u2019]t|should not|shouldn['\u2019]t"
    r"|instead of|rather than)\s+(?P<what>(?:[^.;:\n]|\.(?=\w))+?)"
    r"(?=$|[;:\n]|\.(?!\w)|,? (?P<why>since|because|so|which|instead|if|when|use|unless|without|until|just to)\b)",
    re.IGNORECASE,
)
_CONDITIONAL = frozenset({"if", "when", "unless", "without", "until"})
_COMPARISONS = frozenset({"instead of", "rather than"})
_EXPECTATION = re.compile(r"(?:expect|assume|forget|worry|hesitate|need)\b", re.IGNORECASE)
_VERDICT = re.compile(r"\b(?:rarely|seldom|almost|usually|always|often|loses?|never|is|are|was|were)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_LABEL = re.compile(r"^\w+:\s+")


@dataclass(frozen=True, slots=True)
class _Advice:
    """An item as advice: what it forbids, and the stems of what it does."""

    reading: Reading
    forbidden: tuple[str, ...]
    does: frozenset[str]

    @property
    def is_approach(self) -> bool:
        return self.reading.item.kind in (ItemKind.RECIPE, ItemKind.KERNEL)


def contradictions(read: Sequence[Reading]) -> list[Finding]:
    """One finding per item that forbids what others do: the forbidding item first, then those that do it."""
    told = {reading.item.source_problem for reading in read if reading.item.kind is ItemKind.RECIPE}
    advice = [_advice(reading) for reading in read if _is_read(reading, told)]
    rarity = rarities(each.does for each in advice if each.reading.is_prose)
    places = holders(each.does for each in advice)
    found = []
    for each in advice:
        opposed: dict[str, str] = {}
        for phrase in each.forbidden:
            for other, shared in _doers(each, stems(phrase), advice, rarity, places):
                opposed.setdefault(other.reading.item.id, f"forbids {quoted(phrase)}, and {other.reading.item.id} "
                                   f"says {quoted(_telling(other.reading.item.text, shared))}")  # fmt: skip
        if opposed:
            ids = (each.reading.item.id, *opposed)
            evidence = f"{each.reading.item.id} {next(iter(opposed.values()))}."
            if len(opposed) > 1:
                evidence += f" So {'does' if len(opposed) == 2 else 'do'} {listed(list(opposed)[1:])}."
            found.append(Finding(FindingKind.CONTRADICTION, ids, evidence))
    return found


def _is_read(reading: Reading, told: Iterable[str | None]) -> bool:
    item = reading.item
    if item.damage or damage(item.text):
        return False
    if item.kernel is not None:
        return item.source_problem not in told
    return count_tokens(item.text) <= MOST_TOKENS


def _advice(reading: Reading) -> _Advice:
    item = reading.item
    if item.kernel is not None:
        return _Advice(reading, (), stems(item.kernel.source.replace("_", " ")) | stems(item.text))
    forbidden = tuple(_forbidden(item.text, bool(item.prohibition)))
    return _Advice(reading, forbidden, stems(_FORBIDS.sub(" ", item.text)))


def _forbidden(text: str, flagged: bool) -> Iterator[str]:
    imperative = False
    for match in _FORBIDS.finditer(text):
        why = (match["why"] or "").lower()
        if match["cue"].lower() in _COMPARISONS:
            yield match["what"]
        elif why not in _CONDITIONAL and not _EXPECTATION.match(match["what"]):
            imperative = True
            yield match["what"]
    if flagged and not imperative:
        yield _VERDICT.split(_LABEL.sub("", _SENTENCE_END.split(text)[0]))[0]


def _doers(
    each: _Advice,
    forbidden: frozenset[str],
    advice: Sequence[_Advice],
    rarity: Rarities,
    places: Mapping[str, Sequence[int]],
) -> Iterator[tuple[_Advice, frozenset[str]]]:
    """The advice for the same family that does most of what is forbidden, with the stems they share."""
    if len(forbidden) < FEWEST_SHARED:
        return
    # Whoever shares FEWEST_SHARED stems shares one of all but the FEWEST_SHARED - 1 commonest.
    rarest = sorted(forbidden, key=lambda stem: (len(places.get(stem, ())), stem))
    likely = rarest[: len(rarest) - FEWEST_SHARED + 1]
    numbers = sorted({number for stem in likely for number in places.get(stem, ())})
    whole = rarity.weigh(forbidden)
    for number in numbers:
        other = advice[number]
        shared = forbidden & other.does
        least = DOES if other.is_approach else ADVISES
        if other.reading.item.kind is ItemKind.KERNEL:
            least = ADVISES if each.reading.item.prohibition else 2.0
        if (
            other is not each
            and len(shared) >= FEWEST_SHARED
            and _for_one_family(each.reading, other.reading)
            and rarity.weigh(shared) >= least * whole
        ):
            yield other, shared


def _for_one_family(left: Reading, right: Reading) -> bool:
    return not left.families or not right.families or bool(left.families & right.families)


def _telling(text: str, shared: frozenset[str]) -> str:
    """The sentence that holds most of the shared stems."""
    return max(_SENTENCE_END.split(text), key=lambda sentence: len(stems(sentence) & shared))
