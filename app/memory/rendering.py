"""One renderer for every policy: from chosen rows to the text of a context."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.memory.baselines import Solo
from app.memory.figures import ratio, without_figures
from app.memory.formats.ace import bullet_entry, guarded, playbook_text
from app.memory.policies import Guide, Policy
from app.memory.selection import Selection, Shown
from app.memory.wording import Wording
from app.records import Item, Problem


@dataclass(frozen=True, slots=True)
class Scene:
    """What a kernel memory is rendered for."""

    policy: Policy
    wording: Wording
    family: str
    problems: Mapping[str, Problem]
    reader_is_writer: bool
    writer: str
    """The writer's name as it is shown."""


def render_memory(selection: Selection, scene: Scene) -> str:
    """The kernel memory: sections joined by one blank line, empty ones left out with their title."""
    policy, wording = scene.policy, scene.wording
    recipes = wording.recipes if policy.figures else wording.recipes_without_figures
    sections = [
        wording.verified_head if policy.verified else wording.head,
        _guide(scene),
        _listed(wording.lessons, [_advice(shown, policy) for shown in selection.lessons]),
        _listed(_of_family(wording.pitfalls, scene), [_advice(shown, policy) for shown in selection.pitfalls]),
        _listed(_of_family(recipes, scene), [_recipe(shown, scene) for shown in selection.recipes]),
        *(_kernel(shown, scene) for shown in selection.kernels),
    ]
    return "\n\n".join(section for section in sections if section)


def render_playbook(head: str, section_order: Sequence[str], bullets: Iterable[Item]) -> str:
    """Bullets as an ACE playbook; sections in the given order (empty ones too), then any others as they come."""
    sections: dict[str, list[str]] = {title: [] for title in section_order}
    for item in bullets:
        sections.setdefault(item.section, []).append(playbook_entry(item))
    return playbook_text(head, sections.items())


def playbook_entry(item: Item) -> str:
    """One bullet of a playbook, with its counters."""
    return bullet_entry(item.id, item.helpful, item.harmful, item.text)


def render_memories(head: str, memories: Iterable[Item]) -> str:
    """A head line, then each memory as `[id] text`."""
    return "\n".join([head, *(memory_entry(item) for item in memories)])


def memory_entry(item: Item) -> str:
    """One memory with its id."""
    return guarded(f"[{item.id}] {item.text}")


def render_ranked(head: str, items: Iterable[Item]) -> str:
    """A head line, then each item of whatever kind, one blank line between them."""
    return "\n\n".join([head, *(ranked_entry(item) for item in items)])


def ranked_entry(item: Item) -> str:
    """One item with its id and kind; a kernel brings its source."""
    claim = f", claimed {ratio(item.claimed_speedup)}x" if item.claimed_speedup is not None else ""
    source = f" on {item.source_problem}" if item.source_problem else ""
    head = f"[{item.id}] ({item.kind.value}{source}{claim}) "
    return guarded(head + item.text) + (f"\n{_code(item)}" if item.kernel else "")


def _guide(scene: Scene) -> str:
    wording = scene.wording
    by_writer = wording.guide_writer if scene.reader_is_writer else wording.guide_other
    text = {Guide.NONE: "", Guide.BY_WRITER: by_writer, Guide.GATED: wording.guide_gated}[scene.policy.guide]
    return text.replace("{writer}", scene.writer)


def _listed(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *lines]) if lines else ""


def _of_family(title: str, scene: Scene) -> str:
    return title.replace("{family}", scene.family)


def _advice(shown: Shown, policy: Policy) -> str:
    return _list_line("- ", _text(shown.item, policy))


def _recipe(shown: Shown, scene: Scene) -> str:
    problem = scene.problems.get(shown.item.source_problem or "")
    source = problem.name if problem else (shown.item.source_problem or "an unnamed problem")
    if not scene.policy.figures:
        tag = f"verified on {source}"
    elif shown.measured is not None and shown.measured.speedup is not None:
        tag = f"{shown.measured.against(shown.item.claimed_speedup)}; on {source}{_alone(shown.solo)}"
    elif shown.speedup is not None:
        tag = f"{ratio(shown.speedup)}x on {source}{_alone(shown.solo)}"
    else:
        tag = f"unmeasured, on {source}{_alone(shown.solo)}"
    return _list_line(f"- [{tag}] ", _text(shown.item, scene.policy))


def _kernel(shown: Shown, scene: Scene) -> str:
    problem = scene.problems.get(shown.item.source_problem or "")
    label = f"{problem.id} {problem.name}" if problem else (shown.item.source_problem or shown.item.id)
    if scene.policy.figures and shown.measured is not None:
        label += f", {shown.measured.against(shown.item.claimed_speedup)}{_alone(shown.solo)}"
    elif scene.policy.figures and shown.speedup is not None:
        label += f", {ratio(shown.speedup)}x{_alone(shown.solo)}"
    title = _of_family(scene.wording.kernel, scene).replace("{kernel}", label)
    return f"{title}\n{_code(shown.item)}"


def _alone(solo: Solo | None) -> str:
    if solo is None:
        return ""
    return f"; you alone: {'est. ' if solo.estimated else ''}{ratio(solo.mean)}x"


def _text(item: Item, policy: Policy) -> str:
    if policy.figures:
        return item.text
    return item.text_without_figures or without_figures(item.text)


def _list_line(mark: str, text: str) -> str:
    """A list item; later lines of the text are indented, so that none can pass for an item or title of its own."""
    return mark + text.replace("\n", "\n  ")


def _code(item: Item) -> str:
    """The kernel's source in a fence that is longer than any inside it."""
    source = item.kernel.source if item.kernel else ""
    fence = "```"
    while fence in source:
        fence += "`"
    return f"{fence}python\n{source}\n{fence}"
