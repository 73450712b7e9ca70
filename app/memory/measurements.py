"""What verification runs say of the items that lean on the verified kernels."""

from collections.abc import Mapping

from app.records import Corpus, Measurement
from app.vocabulary import ItemKind

SLOWER = 0.5
"""Standing of an item whose kernel is correct and not faster than eager on the asker's hardware."""

WRONG = 0.25
"""Standing of an item whose kernel failed there."""


def by_hardware(corpus: Corpus) -> dict[str, dict[str, Measurement]]:
    """Hardware -> item id -> latest run. A recipe takes the run of the kernel of its source problem."""
    recipes = [item for item in corpus.items.values() if item.kind is ItemKind.RECIPE and item.source_problem]
    found = {}
    for hardware, runs in corpus.measurements.items():
        by_problem = {corpus.items[item_id].source_problem: run for item_id, run in runs.items()}
        of_recipes = {r.id: by_problem[r.source_problem] for r in recipes if r.source_problem in by_problem}
        found[hardware] = {**of_recipes, **runs}
    return found


def standing(measurement: Measurement) -> float:
    """Factor in [0, 1] by which a run moves an item's score: 1 for a faster kernel, less for a slower or wrong one."""
    if measurement.speedup is None:
        return WRONG
    return 1.0 if measurement.speedup > 1 else SLOWER


def measured_on(runs: Mapping[str, Mapping[str, Measurement]], hardware: str | None) -> Mapping[str, Measurement]:
    """The runs on one kind of hardware by item id; none where no hardware is named."""
    return runs.get(hardware, {}) if hardware else {}
