"""Lessons, pitfalls, recipes and kernels from the kernel memories that show them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise

from app.memory.drafts import ItemDraft
from app.memory.families import name_likeness, name_tokens
from app.memory.figures import without_figures
from app.memory.formats.contexts import Claim, Entry, Section
from app.memory.policies import Gate
from app.memory.recovery.observations import Observation, Observations
from app.memory.recovery.ordering import merged_order, ordered_by
from app.records import Item, Problem
from app.vocabulary import DEFAULT_SECTIONS, ItemKind

AdviceKey = tuple[ItemKind, str, str]
"""(kind, family or '', text)."""
RecipeKey = tuple[str, str, str]
"""(family, source problem's name, text)."""

_ADVICE_SHOWN_WHOLE = ("show_all", "living", "living:rC", "reader_relative", "no_approach", "lessons_only")


def advice_drafts(seen: Observations, known: Sequence[Item]) -> list[ItemDraft]:
    """Lessons and pitfalls in order, with their flags and figure-free variants; `known` ones keep their order."""
    listings: dict[tuple[ItemKind, str], list[list[str]]] = defaultdict(list)
    before: dict[tuple[ItemKind, str], list[str]] = defaultdict(list)
    for item in _of_kind(known, ItemKind.LESSON, ItemKind.PITFALL):
        before[item.kind, item.family or ""].append(item.text)
    for observation in seen.of(*_ADVICE_SHOWN_WHOLE):
        for kind, family, section in _advice_sections(observation):
            listings[kind, family].append(section.texts)
    prohibiting = _flag(seen, shown_by="no_prohib", beside=("show_all", "living", "reader_relative"))
    gated = _flag(seen, shown_by="frontier_gated", beside=("show_all", "living", "reader_relative"))
    variants = _figure_free(seen)
    return [
        _advice_draft((kind, family, text), position, prohibiting, gated, variants)
        for (kind, family), orders in listings.items()
        for position, text in enumerate(merged_order(orders, before[kind, family]))
    ]


def recipe_drafts(seen: Observations, problems: Mapping[str, Problem], known: Sequence[Item]) -> list[ItemDraft]:
    """Recipes with their claims; `claim_rank` keeps the order in which they are shown."""
    ids = {problem.name: problem.id for problem in problems.values()}
    listings: dict[str, list[list[RecipeKey]]] = defaultdict(list)
    claims: dict[RecipeKey, Decimal] = {}
    before: dict[str, list[RecipeKey]] = defaultdict(list)
    for item in _of_kind(known, ItemKind.RECIPE):
        key = (item.family or "", _name(item, problems), item.text)
        before[key[0]].append(key)
        claims[key] = item.claimed_speedup or Decimal(0)
    for observation, entry in shown_recipes(seen.memories):
        if entry.claim.speedup is not None:
            claims[recipe_key(observation, entry)] = entry.claim.speedup
    for observation in seen.memories:
        recipes = [recipe_key(observation, entry) for _, entry in shown_recipes([observation])]
        if observation.policy.figures and recipes:
            listings[observation.problem.family].append(recipes)
    variants = _figure_free_recipes(seen)
    drafts = []
    for family, orders in listings.items():
        for rank, key in enumerate(merged_order(orders, before[family]), start=1):
            _, source, text = key
            draft = _claim_draft(ItemKind.RECIPE, family, ids.get(source, source), text, claims[key], rank)
            draft.text_without_figures = variants.get(key)
            drafts.append(draft)
    return drafts


def kernel_drafts(seen: Observations, problems: Mapping[str, Problem], known: Sequence[Item]) -> list[ItemDraft]:
    """Kernels with their code; `claim_rank` is the order by unrounded speedup that the choices give away."""
    kernels: dict[str, tuple[str, Entry]] = {}
    for item in _of_kind(known, ItemKind.KERNEL):
        if item.kernel is not None and item.source_problem is not None:
            claim = Claim(_name(item, problems), item.source_problem, item.claimed_speedup)
            kernels[item.source_problem] = (item.family or "", Entry(claim, item.kernel.source))
    for observation, entry in shown_kernels(seen.memories):
        if entry.claim.problem_id is not None and entry.claim.speedup is not None:
            kernels.setdefault(entry.claim.problem_id, (observation.problem.family, entry))
    families: dict[str, list[str]] = defaultdict(list)
    for problem_id, (family, _) in kernels.items():
        families[family].append(problem_id)
    drafts = []
    for family, members in families.items():
        pool = {problem_id: kernels[problem_id][1] for problem_id in members}
        claims = {problem_id: entry.claim.speedup or Decimal(0) for problem_id, entry in pool.items()}
        faster = list(_faster_pairs(seen, family, pool))
        by_claim = sorted(members, key=lambda problem_id: -claims[problem_id])
        steps = [(a, b) for a, b in pairwise(by_claim) if claims[a] > claims[b]]
        for rank, problem_id in enumerate(ordered_by(by_claim, [*faster, *steps]), start=1):
            entry = pool[problem_id]
            text = f"Kernel for {entry.claim.problem_name} ({family})"
            draft = _claim_draft(ItemKind.KERNEL, family, problem_id, text, claims[problem_id], rank)
            draft.kernel_source = entry.text
            drafts.append(draft)
    return drafts


def shown_recipes(memories: Iterable[Observation]) -> Iterator[tuple[Observation, Entry]]:
    """Every recipe that is shown, with the context that shows it."""
    for observation in memories:
        if observation.context.recipes is not None:
            yield from ((observation, entry) for entry in observation.context.recipes.entries)


def shown_kernels(memories: Iterable[Observation]) -> Iterator[tuple[Observation, Entry]]:
    """Every kernel that is shown, with the context that shows it."""
    for observation in memories:
        yield from ((observation, section.entries[0]) for section in observation.context.kernels)


def recipe_key(observation: Observation, entry: Entry) -> RecipeKey:
    """What makes two shown recipes the same recipe."""
    return (observation.problem.family, entry.claim.problem_name, entry.text)


def _of_kind(known: Iterable[Item], *kinds: ItemKind) -> list[Item]:
    return sorted((item for item in known if item.kind in kinds), key=lambda item: (item.position, item.id))


def _name(item: Item, problems: Mapping[str, Problem]) -> str:
    problem = problems.get(item.source_problem or "")
    return problem.name if problem else (item.source_problem or "")


def _advice_sections(observation: Observation) -> Iterator[tuple[ItemKind, str, Section]]:
    context = observation.context
    if context.lessons is not None:
        yield ItemKind.LESSON, "", context.lessons
    if context.pitfalls is not None:
        yield ItemKind.PITFALL, observation.problem.family, context.pitfalls


def _flag(seen: Observations, *, shown_by: str, beside: tuple[str, ...]) -> dict[AdviceKey, bool]:
    """Whether each piece of advice that a full policy shows is also shown by another policy at the same place."""
    others = seen.by_place(shown_by)
    shown: dict[AdviceKey, bool] = {}
    for full in seen.of(*beside):
        other = others.get((full.reader, full.problem.id))
        if other is None:
            continue
        there = {(kind, text) for kind, _, section in _advice_sections(other) for text in section.texts}
        for kind, family, section in _advice_sections(full):
            shown.update({(kind, family, text): (kind, text) in there for text in section.texts})
    return shown


def _figure_free(seen: Observations) -> dict[AdviceKey, str]:
    """Advice whose figure-free wording differs from what the rule for figures gives."""
    plain = seen.by_place("no_numbers")
    variants: dict[AdviceKey, str] = {}
    for full in seen.of("show_all", "living"):
        other = plain.get((full.reader, full.problem.id))
        if other is None:
            continue
        pairs = zip(_advice_sections(full), _advice_sections(other), strict=False)
        for (kind, family, section), (_, _, twin) in pairs:
            for text, without in zip(section.texts, twin.texts, strict=False):
                if without_figures(text) != without:
                    variants[kind, family, text] = without
    return variants


def _figure_free_recipes(seen: Observations) -> dict[RecipeKey, str]:
    """The same for recipes."""
    plain = seen.by_place("no_numbers")
    variants: dict[RecipeKey, str] = {}
    for full in seen.of("show_all", "living"):
        other = plain.get((full.reader, full.problem.id))
        pairs = zip(shown_recipes([full]), shown_recipes([other] if other else []), strict=False)
        for (_, entry), (_, twin) in pairs:
            if without_figures(entry.text) != twin.text:
                variants[recipe_key(full, entry)] = twin.text
    return variants


def _advice_draft(
    key: AdviceKey,
    position: int,
    shown_without_prohibitions: dict[AdviceKey, bool],
    shown_gated: dict[AdviceKey, bool],
    variants: dict[AdviceKey, str],
) -> ItemDraft:
    kind, family, text = key
    allowed = shown_without_prohibitions.get(key)
    gated = shown_gated.get(key)
    return ItemDraft(
        kind=kind,
        section=DEFAULT_SECTIONS[kind],
        text=text,
        position=position,
        family=family or None,
        text_without_figures=variants.get(key),
        prohibition=None if allowed is None else not allowed,
        # The gate keeps correctness advice that forbids nothing: of advice that forbids, it tells nothing.
        correctness=gated if allowed or gated else None,
    )


def _claim_draft(kind: ItemKind, family: str, source_problem: str, text: str, speedup: Decimal, rank: int) -> ItemDraft:
    return ItemDraft(
        kind=kind,
        section=DEFAULT_SECTIONS[kind],
        text=text,
        position=rank - 1,
        family=family,
        source_problem=source_problem,
        claimed_speedup=speedup,
        claim_rank=rank,
    )


def _faster_pairs(seen: Observations, family: str, pool: dict[str, Entry]) -> Iterator[tuple[str, str]]:
    """(faster, slower) among kernels whose claims print alike, as the choices between equally related ones show."""
    tokens = {problem_id: name_tokens(entry.claim.problem_name) for problem_id, entry in pool.items()}
    for observation in seen.memories:
        if observation.problem.family != family or observation.policy.gate is not Gate.NONE:
            continue
        chosen = [section.entries[0].claim.problem_id or "" for section in observation.context.kernels]
        if not chosen:
            continue
        target = name_tokens(observation.problem.name)
        rest = [p for p in pool if p not in chosen and p != observation.problem.id]
        ranked = [p for p in chosen if p in pool] + rest
        for index, better in enumerate(chosen):
            for worse in ranked[index + 1 :]:
                alike = name_likeness(tokens[better], target) == name_likeness(tokens[worse], target)
                if alike and pool[better].claim.speedup == pool[worse].claim.speedup:
                    yield better, worse
