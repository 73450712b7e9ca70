"""Items that lean on a kernel which was demoted on some hardware.

A recipe or bullet leans on a kernel when it was learned from the same problem, or names the kernel in its text.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from app.memory.findings.finding import Finding
from app.records import Corpus, Item
from app.vocabulary import FindingKind, ItemKind, ItemStatus


def demoted_kernels(corpus: Corpus) -> list[Finding]:
    """One finding for each item that leans on a demoted kernel, with what was measured of the kernel."""
    live = [item for _, item in sorted(corpus.items.items()) if item.status is not ItemStatus.RETIRED]
    found = []
    for kernel in live:
        if kernel.kind is not ItemKind.KERNEL or not kernel.demotions:
            continue
        named = re.compile(rf"\b{re.escape(kernel.id)}\b")
        leaning = [item for item in live if item.kind is not ItemKind.KERNEL and _leans(item, kernel, named)]
        found += [_finding(item, kernel) for item in leaning]
    return found


def _leans(item: Item, kernel: Item, named: re.Pattern[str]) -> bool:
    same_problem = kernel.source_problem is not None and item.source_problem == kernel.source_problem
    return same_problem or named.search(item.text) is not None


def _finding(item: Item, kernel: Item) -> Finding:
    told = "; ".join(_told(hardware, entry) for hardware, entry in sorted((kernel.demotions or {}).items()))
    claim = f", which claims {item.claimed_speedup:.2f}x," if item.claimed_speedup is not None else ""
    evidence = f"{item.id}{claim} leans on {kernel.id}, which was demoted: {told}."
    return Finding(FindingKind.DEMOTED_KERNEL, (item.id, kernel.id), evidence)


def _told(hardware: str, entry: Mapping[str, Any]) -> str:
    speedup = entry.get("speedup")
    measured = f"measured {Decimal(speedup):.2f}x" if speedup is not None else f"judged {entry.get('verdict')}"
    return f"{measured} on {hardware} in two runs"
