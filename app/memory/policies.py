"""The policy table: what a context shows, and how. An ablation is a row here; rendering reads the row."""

from dataclasses import dataclass
from enum import Enum, StrEnum

from app.errors import UnknownPolicy
from app.vocabulary import ItemKind


class Layout(Enum):
    """The overall form of a context."""

    EMPTY = "empty"
    PRINCIPLES = "principles"
    PLAYBOOK = "playbook"
    MEMORIES = "memories"
    KERNEL_MEMORY = "kernel memory"
    RANKED = "ranked"


class Guide(Enum):
    """Which `How to read` section a kernel memory carries."""

    NONE = "none"
    BY_WRITER = "by writer"
    GATED = "gated"


class Advice(Enum):
    """Which lessons and pitfalls are shown."""

    ALL = "all"
    NOT_PROHIBITING = "not prohibiting"
    CORRECTNESS = "correctness, not prohibiting"


class Gate(Enum):
    """What a recipe or kernel has to beat to be shown."""

    NONE = "none"
    SOURCE = "the reader alone on the item's source problem"
    TARGET = "the reader alone on the source problem, and its average on problems like the target"


class Order(StrEnum):
    """How recipes and kernels are put in order before they are cut."""

    SPEEDUP = "speedup"
    RETRIEVAL = "retrieval"


@dataclass(frozen=True, slots=True)
class Policy:
    """One way of showing memory to a reader."""

    name: str
    shows: str
    layout: Layout = Layout.KERNEL_MEMORY
    kinds: frozenset[ItemKind] = frozenset({ItemKind.LESSON, ItemKind.PITFALL, ItemKind.RECIPE, ItemKind.KERNEL})
    guide: Guide = Guide.NONE
    figures: bool = True
    solo: bool = False
    """Whether the reader's own mean speedup stands beside each claim."""
    advice: Advice = Advice.ALL
    gate: Gate = Gate.NONE
    own_recipes_only: bool = False
    """Recipes are shown only to the reader that wrote them."""
    order: Order = Order.SPEEDUP
    verified: bool = False
    """Claims follow the latest verification on the reader's hardware; damaged and duplicate items never show."""


_LESSONS = frozenset({ItemKind.LESSON})
_ADVICE = frozenset({ItemKind.LESSON, ItemKind.PITFALL})

POLICIES: dict[str, Policy] = {
    policy.name: policy
    for policy in (
        Policy("none", "nothing: the empty string", layout=Layout.EMPTY),
        Policy("prior", "one fixed paragraph, the same for every task", layout=Layout.PRINCIPLES),
        Policy("ace", "the whole playbook of bullets with their counters", layout=Layout.PLAYBOOK),
        Policy("mem0", "ten ranked memories", layout=Layout.MEMORIES),
        Policy("lessons_only", "lessons", kinds=_LESSONS),
        Policy("no_approach", "lessons and the family's pitfalls", kinds=_ADVICE),
        Policy("show_all", "lessons, pitfalls, recipes and kernels"),
        Policy("living", "the same text as show_all"),
        Policy("living:rC", "living; recipes only for the reader that wrote them", own_recipes_only=True),
        Policy("no_numbers", "living without figures", figures=False),
        Policy("no_prohib", "living without advice that forbids an approach", advice=Advice.NOT_PROHIBITING),
        Policy(
            "reader_relative",
            "living, with the reader's own speedups beside each claim",
            guide=Guide.BY_WRITER,
            solo=True,
        ),
        Policy(
            "frontier_gated",
            "reader_relative, less what the reader beats alone, and correctness advice only",
            guide=Guide.GATED,
            solo=True,
            advice=Advice.CORRECTNESS,
            gate=Gate.SOURCE,
        ),
        Policy(
            "fg_target",
            "frontier_gated, less what falls short of the reader's average on problems like the target",
            guide=Guide.GATED,
            solo=True,
            advice=Advice.CORRECTNESS,
            gate=Gate.TARGET,
        ),
        Policy(
            "verified",
            "fg_target with claims as last measured on the asker's hardware, ranked by retrieval",
            guide=Guide.GATED,
            solo=True,
            advice=Advice.CORRECTNESS,
            gate=Gate.TARGET,
            order=Order.RETRIEVAL,
            verified=True,
        ),
        Policy("search", "the best-ranked items of every kind for this task", layout=Layout.RANKED),
    )
}
"""Every policy by name, in the order in which they are documented."""


def policy_named(name: str) -> Policy:
    """The policy of that name; raises UnknownPolicy, which lists the names."""
    policy = POLICIES.get(name)
    if policy is None:
        known = list(POLICIES)
        raise UnknownPolicy(f"There is no policy {name!r}. Choose one of: {', '.join(known)}.", known=known)
    return policy
