"""What the counters say.

Never used: only kinds that anybody votes on are looked at, since a kind without any vote was simply never counted; the
items come as one finding, because a curator decides about the lot.

Harmful: a share of harmful votes is judged by the lower end of its 95 % Wilson interval, so that one bad vote out of
one accuses nobody. That end must exceed `TIMES_THE_SHARE` the share of the whole corpus (votes are habits: in a corpus
where a twentieth of all votes is harmful, a lower end of a tenth already stands out), but never less than `LEAST_BOUND`
(in a corpus of praise, any blame would stand out) and never more than one half (an item that harms more often than
it helps is a finding in any corpus). Below `FEWEST_VOTES` an interval says next to nothing.
"""

import math
from collections import defaultdict
from collections.abc import Sequence

from app.memory.findings.finding import Finding, quoted
from app.memory.findings.reading import Reading
from app.vocabulary import FindingKind, ItemKind, ItemStatus

TIMES_THE_SHARE = 2.0
LEAST_BOUND = 0.1
FEWEST_VOTES = 3
Z_95 = 1.96


def never_used(read: Sequence[Reading]) -> list[Finding]:
    """Per kind one finding that lists the active items nobody voted on, if the kind is voted on at all."""
    silent: dict[ItemKind, list[str]] = defaultdict(list)
    totals: dict[ItemKind, int] = defaultdict(int)
    for reading in read:
        item = reading.item
        if item.status is ItemStatus.ACTIVE:
            totals[item.kind] += 1
            if item.helpful <= 0 and item.harmful <= 0:
                silent[item.kind].append(item.id)
    found = []
    for kind, ids in silent.items():
        if len(ids) < totals[kind]:
            evidence = f"{len(ids)} of {totals[kind]} items of kind {kind} have no helpful and no harmful vote."
            found.append(Finding(FindingKind.NEVER_USED, tuple(ids), evidence))
    return found


def harmful_leaning(read: Sequence[Reading]) -> list[Finding]:
    """Items whose votes are harmful clearly more often than those of the corpus."""
    harmful = sum(max(reading.item.harmful, 0) for reading in read)
    votes = harmful + sum(max(reading.item.helpful, 0) for reading in read)
    if not harmful:
        return []
    share = harmful / votes
    threshold = min(0.5, max(LEAST_BOUND, TIMES_THE_SHARE * share))
    found = []
    for item in (reading.item for reading in read):
        cast = max(item.helpful, 0) + max(item.harmful, 0)
        bound = lower_bound(item.harmful, cast)
        if cast >= FEWEST_VOTES and bound > threshold:
            evidence = (
                f"{item.harmful} of {cast} votes on {item.id} are harmful: at least {bound:.0%} with 95 % confidence, "
                f"while {share:.0%} of all votes are. It begins {quoted(item.text[:100])}."
            )
            found.append(Finding(FindingKind.HARMFUL_LEANING, (item.id,), evidence))
    return found


def lower_bound(hits: int, total: int) -> float:
    """Lower end of the 95 % Wilson interval of a share, in [0, 1]."""
    if total <= 0 or hits <= 0:
        return 0.0
    share, z2 = hits / total, Z_95 * Z_95
    spread = Z_95 * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total))
    return max(0.0, (share + z2 / (2 * total) - spread) / (1 + z2 / total))
