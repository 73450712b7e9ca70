"""The fixed phrases of a rendered context.

Our own phrases are the defaults. An import of rendered contexts brings the phrases of its source, which then replace
them, so that a context can be reproduced to the byte. `{family}`, `{kernel}` and `{writer}` are filled in.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class Wording:
    """One phrase per place of a context; titles carry their `###`."""

    head: str = "## Kernel memory: measured advice from earlier problems; take what fits yours"
    guide_writer: str = (
        "### Reading guide\n"
        "Your own earlier attempts ({writer}) were measured for these items. `you alone` is your mean speedup on the "
        "item's source problem without memory; `est.` marks your average over similar problems."
    )
    guide_other: str = (
        "### Reading guide\n"
        "Another model ({writer}) made these attempts. `you alone` is your own mean speedup on the item's source "
        "problem without memory; `est.` marks your average over similar problems."
    )
    guide_gated: str = (
        "### Reading guide\n"
        "Advice is kept only where it was measured faster than what you reach alone, beside facts about correctness. "
        "`you alone` is your mean speedup on the item's source problem; `est.` marks an average over similar problems."
    )
    lessons: str = "### Lessons that hold for every problem"
    pitfalls: str = "### Pitfalls met on {family} problems"
    recipes: str = "### Recipes that worked on {family} problems (speedup over eager)"
    recipes_without_figures: str = "### Recipes that worked on {family} problems"
    kernel: str = "### A kernel that was verified on a {family} problem ({kernel})"
    playbook_head: str = "Kernel playbook. Use a bullet where it applies, and name the ids that helped or misled you."
    memories_head: str = "Memories of earlier problems. Mind the conditions that each one states."
    principles: str = (
        "Work from evidence: read the task to its end, test what you build at full size, and measure before you claim "
        "that anything is faster."
    )
    search_head: str = "## Playbook items for this task, best first"
    verified_head: str = "## Kernel memory: advice whose figures were measured again on your hardware where possible"


PLACES: tuple[str, ...] = tuple(field.name for field in fields(Wording))


def wording_from(phrases: Mapping[str, str]) -> Wording:
    """The default wording with the given phrases in their places; places that are unknown here are ignored."""
    return replace(Wording(), **{place: text for place, text in phrases.items() if place in PLACES})
