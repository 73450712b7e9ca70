"""What a curator should look at: pure rules that read the whole corpus and name no item of it."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from app.memory.findings.demoted import demoted_kernels
from app.memory.findings.duplicates import exact_duplicates, one_rules
from app.memory.findings.finding import Finding
from app.memory.findings.links import dangling_references, prose_references
from app.memory.findings.measured import stale_claims
from app.memory.findings.nearness import near_duplicates
from app.memory.findings.opposition import contradictions
from app.memory.findings.reading import readings
from app.memory.findings.scope import bloated, grab_bags
from app.memory.findings.soundness import damaged
from app.memory.findings.votes import harmful_leaning, never_used
from app.records import Corpus
from app.vocabulary import FindingKind

__all__ = ["Finding", "find"]


def find(corpus: Corpus, vectors: Mapping[str, npt.NDArray[np.float32]] | None = None) -> list[Finding]:
    """Every finding of every rule, by kind and then by item ids; the same corpus gives the same list.

    `vectors` maps item ids to embeddings of shape (dimension,); with them near-duplicates that share no words are
    found too. Retired items take no part, but a reference to one is a finding.
    """
    read = readings(corpus)
    same = [*exact_duplicates(read), *one_rules(read)]
    told = [frozenset(finding.item_ids) for finding in same]
    found = [
        *damaged(read),
        *contradictions(read),
        *stale_claims(corpus),
        *demoted_kernels(corpus),
        *dangling_references(read, corpus),
        *same,
        *near_duplicates(read, vectors or {}, told),
        *harmful_leaning(read),
        *prose_references(read),
        *bloated(read),
        *grab_bags(read, corpus),
        *never_used(read),
    ]
    places = {kind: place for place, kind in enumerate(FindingKind)}
    return sorted(found, key=lambda finding: (places[finding.kind], finding.item_ids))
