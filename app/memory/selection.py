"""What a policy shows of the kernel memory: pure functions of rows."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from app.memory.baselines import Baselines, Solo
from app.memory.duplicates import repeats_among
from app.memory.families import name_likeness, name_tokens
from app.memory.policies import Advice, Gate, Order, Policy
from app.records import Corpus, Item, Measurement
from app.vocabulary import ItemKind, LeftOutReason

RECIPES_SHOWN = 6
"""A context shows at most this many recipes; the cut comes before the target's own recipes are taken out."""

KERNELS_SHOWN = 2
"""A context shows at most this many kernels, chosen among those of other problems."""


@dataclass(frozen=True, slots=True)
class Target:
    """The problem that a context is for, known or inferred."""

    problem_id: str | None
    tokens: frozenset[str]
    """Parts of the problem's name, or the operations that a task without a name consists of."""
    family: str
    level: int


@dataclass(frozen=True, slots=True)
class Shown:
    """An item as one reader sees it."""

    item: Item
    speedup: Decimal | None = None
    solo: Solo | None = None
    measured: Measurement | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An item that the policy considered and did not show, and why."""

    item_id: str
    reason: LeftOutReason
    detail: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The items of a kernel memory, in the order in which they are shown."""

    lessons: tuple[Shown, ...] = ()
    pitfalls: tuple[Shown, ...] = ()
    recipes: tuple[Shown, ...] = ()
    kernels: tuple[Shown, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelMemory:
    """Lessons, pitfalls, recipes and kernels of a corpus, grouped as policies read them. Built once per corpus."""

    corpus: Corpus
    baselines: Baselines
    lessons: tuple[Item, ...]
    pitfalls: Mapping[str, tuple[Item, ...]]
    recipes: Mapping[str, tuple[Item, ...]]
    """By family, fastest claim first."""
    kernels: Mapping[str, tuple[Item, ...]]
    """By family, fastest claim first."""
    kernel_tokens: Mapping[str, frozenset[str]]
    """Kernel id -> the parts of its source problem's name."""
    writer: str | None
    """Reader whose attempts most of the memory was distilled from."""


@dataclass(slots=True)
class _Ledger:
    """Collects what is left out while a selection is made."""

    entries: list[LeftOut] = field(default_factory=list)

    def keep(self, items: Iterable[Shown], test: Callable[[Shown], str | None], reason: LeftOutReason) -> list[Shown]:
        """The items for which `test` has no objection; the others are noted with theirs."""
        kept = []
        for shown in items:
            objection = test(shown)
            if objection is None:
                kept.append(shown)
            else:
                self.entries.append(LeftOut(shown.item.id, reason, objection))
        return kept


def kernel_memory(corpus: Corpus) -> KernelMemory:
    """Groups the shown items of a corpus."""
    grouped: dict[ItemKind, list[Item]] = defaultdict(list)
    for item in corpus.items.values():
        if item.shown:
            grouped[item.kind].append(item)
    advice = [*grouped[ItemKind.LESSON], *grouped[ItemKind.PITFALL], *grouped[ItemKind.RECIPE]]
    writers = [item.writer for item in [*advice, *grouped[ItemKind.KERNEL]] if item.writer]
    return KernelMemory(
        corpus=corpus,
        baselines=Baselines(corpus.baselines, corpus.problems),
        lessons=tuple(sorted(grouped[ItemKind.LESSON], key=_by_position)),
        pitfalls=_by_family(grouped[ItemKind.PITFALL], _by_position),
        recipes=_by_family(grouped[ItemKind.RECIPE], by_claim),
        kernels=_by_family(grouped[ItemKind.KERNEL], by_claim),
        kernel_tokens={item.id: _source_tokens(item, corpus) for item in grouped[ItemKind.KERNEL]},
        writer=max(sorted(set(writers)), key=writers.count, default=None),
    )


def select(
    policy: Policy,
    memory: KernelMemory,
    target: Target,
    reader: str,
    *,
    ranking: Mapping[str, int] | None = None,
    measurements: Mapping[str, Measurement] | None = None,
) -> Selection:
    """The items that `policy` shows `reader` for `target`.

    `ranking` gives each item's place in a fresh ranking (0 is best; used where the policy orders by retrieval);
    `measurements` the latest verification per item id on the reader's hardware (used by the verified policy).
    """
    ledger = _Ledger()
    measured = measurements or {} if policy.verified else {}
    places = ranking or {} if policy.order is Order.RETRIEVAL else {}
    claims = {ItemKind.RECIPE: memory.recipes, ItemKind.KERNEL: memory.kernels}
    pools = {
        kind: [_shown(item, measured) for item in claims[kind].get(target.family, ())] if kind in policy.kinds else []
        for kind in claims
    }
    if policy.verified:
        pools = {kind: _trustworthy(pool, ledger) for kind, pool in pools.items()}
    recipes = pools[ItemKind.RECIPE]
    if policy.own_recipes_only:
        recipes = ledger.keep(recipes, lambda shown: _not_written_by(shown, reader), LeftOutReason.GATE)
    recipes = _in_order(recipes, places)[:RECIPES_SHOWN]
    recipes = ledger.keep(recipes, lambda shown: _learned_from(shown.item, target), LeftOutReason.LEAKAGE)
    kernels = _related_kernels(pools[ItemKind.KERNEL], memory, target, places)
    gate = _gate(policy, memory, target, reader)
    lessons = [Shown(item) for item in memory.lessons if ItemKind.LESSON in policy.kinds]
    pitfalls = [Shown(item) for item in memory.pitfalls.get(target.family, ()) if ItemKind.PITFALL in policy.kinds]
    return Selection(
        lessons=tuple(_advice(lessons, policy, ledger)),
        pitfalls=tuple(_advice(pitfalls, policy, ledger)),
        recipes=tuple(ledger.keep(_with_solo(recipes, policy, memory, reader), gate, LeftOutReason.GATE)),
        kernels=tuple(ledger.keep(_with_solo(kernels, policy, memory, reader), gate, LeftOutReason.GATE)),
        left_out=tuple(ledger.entries),
    )


def by_claim(item: Item) -> tuple[Decimal, int, str]:
    """Sort key: fastest unrounded claim first. Claims that print alike follow `claim_rank`, then the id."""
    return (-(item.claimed_speedup or Decimal(0)), item.claim_rank or 10**9, item.id)


def _by_position(item: Item) -> tuple[int, str]:
    return (item.position, item.id)


def _by_family(items: Iterable[Item], key: Callable[[Item], tuple[object, ...]]) -> dict[str, tuple[Item, ...]]:
    families: dict[str, list[Item]] = defaultdict(list)
    for item in sorted(items, key=key):
        families[item.family or ""].append(item)
    return {family: tuple(members) for family, members in families.items()}


def _source_tokens(item: Item, corpus: Corpus) -> frozenset[str]:
    problem = corpus.problems.get(item.source_problem or "")
    return name_tokens(problem.name) if problem else frozenset()


def _shown(item: Item, measured: Mapping[str, Measurement]) -> Shown:
    measurement = measured.get(item.id)
    speedup = measurement.speedup if measurement else item.claimed_speedup
    return Shown(item, speedup=speedup, measured=measurement)


def _in_order(pool: Sequence[Shown], places: Mapping[str, int]) -> list[Shown]:
    return sorted(pool, key=lambda shown: places.get(shown.item.id, len(places)))


def _related_kernels(
    pool: Sequence[Shown], memory: KernelMemory, target: Target, places: Mapping[str, int]
) -> list[Shown]:
    """The kernels of other problems whose names are most like the target's; equal likeness: fastest first.

    The target's own kernel is excluded before the choice, so it never uses a slot.
    """
    others = [shown for shown in pool if _learned_from(shown.item, target) is None]
    likeness = {s.item.id: name_likeness(memory.kernel_tokens[s.item.id], target.tokens) for s in others}
    by_likeness = sorted(others, key=lambda shown: -likeness[shown.item.id])
    return _in_order(by_likeness, places)[:KERNELS_SHOWN]


def _learned_from(item: Item, target: Target) -> str | None:
    own = item.source_problem is not None and item.source_problem == target.problem_id
    return f"learned from {target.problem_id}, the problem under test" if own else None


def _not_written_by(shown: Shown, reader: str) -> str | None:
    return None if shown.item.writer == reader else f"written by {shown.item.writer or 'an unknown model'}"


def _advice(advice: Sequence[Shown], policy: Policy, ledger: _Ledger) -> list[Shown]:
    kept = list(advice)
    if policy.advice is not Advice.ALL:
        kept = ledger.keep(kept, lambda s: "forbids an approach" if s.item.prohibition else None, LeftOutReason.GATE)
    if policy.advice is Advice.CORRECTNESS:
        kept = ledger.keep(kept, lambda s: None if s.item.correctness else "not about correctness", LeftOutReason.GATE)
    return _trustworthy(kept, ledger) if policy.verified else kept


def _trustworthy(pool: Sequence[Shown], ledger: _Ledger) -> list[Shown]:
    """Less damaged items, items that failed where they were measured, and all but the first of near-duplicates."""
    kept = ledger.keep(pool, lambda shown: shown.item.damage, LeftOutReason.DAMAGE)
    kept = ledger.keep(kept, _failed, LeftOutReason.VERIFICATION)
    repeats = repeats_among([shown.item for shown in kept])
    return ledger.keep(kept, lambda shown: repeats.get(shown.item.id), LeftOutReason.DUPLICATE)


def _failed(shown: Shown) -> str | None:
    if shown.measured is None or (shown.speedup is not None and shown.speedup > 1):
        return None
    return shown.measured.against(shown.item.claimed_speedup)


def _with_solo(pool: Iterable[Shown], policy: Policy, memory: KernelMemory, reader: str) -> list[Shown]:
    if not policy.solo:
        return list(pool)
    return [replace(shown, solo=memory.baselines.solo(reader, shown.item.source_problem)) for shown in pool]


def _gate(policy: Policy, memory: KernelMemory, target: Target, reader: str) -> Callable[[Shown], str | None]:
    """Test of a claim against what the reader reaches alone; no margin, unrounded."""
    threshold = None
    if policy.gate is Gate.TARGET:
        threshold = memory.baselines.average(reader, target.family, target.level)

    def objection(shown: Shown) -> str | None:
        speedup = shown.speedup or Decimal(0)
        if policy.gate is not Gate.NONE and shown.solo is not None and speedup <= shown.solo.mean:
            return f"{speedup:.2f}x is not faster than {reader} alone on the source problem ({shown.solo.mean:.2f}x)"
        if threshold is not None and speedup <= threshold:
            return f"{speedup:.2f}x is not faster than {reader}'s average on {target.family} ({threshold:.2f}x)"
        return None

    return objection
