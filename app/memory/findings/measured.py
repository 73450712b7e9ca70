"""Claims that a verification run contradicts.

A kernel that failed, or is no faster than eager where a gain was claimed, contradicts its claim whatever the figures.
Otherwise the measured speedup must lie further than `TOLERANCE` from the claim: claims print with two decimals and
repeated runs of one kernel on one machine differ by a few per cent, so fifteen is beyond both. A recipe stands or
falls with the kernel of its source problem, and the two make one finding.
"""

from collections import defaultdict
from decimal import Decimal

from app.memory.findings.finding import Finding
from app.memory.measurements import by_hardware
from app.records import Corpus, Item, Measurement
from app.vocabulary import FindingKind, ItemKind, ItemStatus

TOLERANCE = Decimal("0.15")


def stale_claims(corpus: Corpus) -> list[Finding]:
    """One finding per source problem (or item without one) whose claim some hardware contradicts."""
    runs = by_hardware(corpus)
    groups: dict[str, list[tuple[Item, Measurement]]] = defaultdict(list)
    for hardware in sorted(runs):
        for item_id in sorted(runs[hardware]):
            item = corpus.items.get(item_id)
            run = runs[hardware][item_id]
            if item is not None and item.status is not ItemStatus.RETIRED and _contradicts(run, item.claimed_speedup):
                groups[item.source_problem or item.id].append((item, run))
    return [_finding(group, corpus) for _, group in sorted(groups.items())]


def _contradicts(run: Measurement, claimed: Decimal | None) -> bool:
    if claimed is None:
        return False
    if run.speedup is None:
        return True
    if claimed > 1 and run.speedup <= 1:
        return True
    return claimed > 0 and abs(run.speedup - claimed) / claimed > TOLERANCE


def _finding(group: list[tuple[Item, Measurement]], corpus: Corpus) -> Finding:
    order = {ItemKind.RECIPE: 0, ItemKind.KERNEL: 1}
    ranked = sorted(group, key=lambda pair: (order.get(pair[0].kind, 2), pair[0].id, pair[1].hardware))
    ids = tuple(dict.fromkeys(item.id for item, _ in ranked))
    told = dict.fromkeys(f"{item.id}: {run.against(item.claimed_speedup)}" for item, run in ranked)
    operation = None
    if len(corpus.measurements) == 1 and len(ids) == 1 and (speedup := ranked[0][1].speedup) is not None:
        operation = {"op": "UPDATE", "id": ids[0], "claimed_speedup": f"{speedup:.2f}"}
    return Finding(
        FindingKind.STALE_CLAIM, ids, f"A verification run contradicts the claim. {'; '.join(told)}.", operation
    )
