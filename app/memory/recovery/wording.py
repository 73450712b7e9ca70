"""The fixed phrases of a document's contexts, as templates, and who wrote its kernel memory."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from app.memory.formats.contexts import Section
from app.memory.policies import Guide, Layout
from app.memory.recovery.observations import Observation, Observations

_PARENTHESISED = re.compile(r"\(([^()]{1,80})\)")


@dataclass(slots=True)
class RecoveredWording:
    """Templates by place, the reader that wrote the memory, and that reader's display name."""

    phrases: dict[str, str] = field(default_factory=dict)
    writer: str | None = None
    display_name: str | None = None


def recover_wording(seen: Observations) -> RecoveredWording:
    """Phrases of every place that the document shows."""
    found = RecoveredWording(writer=_writer_by_recipes(seen))
    for observation in seen.memories:
        for place, phrase in _phrases(observation):
            found.phrases.setdefault(place, phrase)
    for (policy, _, _), text in _other_layouts(seen):
        if policy == "prior":
            found.phrases.setdefault("principles", text)
    _guides(seen, found)
    return found


def _phrases(observation: Observation) -> Iterator[tuple[str, str]]:
    context, family = observation.context, observation.problem.family
    yield "head", context.head
    if context.guide is not None and observation.policy.guide is Guide.GATED:
        yield "guide_gated", context.guide
    if context.lessons is not None:
        yield "lessons", context.lessons.title
    recipes = "recipes" if observation.policy.figures else "recipes_without_figures"
    for place, section in (("pitfalls", context.pitfalls), (recipes, context.recipes)):
        if section is not None:
            yield place, _template(section, family)
    for kernel in context.kernels:
        yield "kernel", _template(kernel, family)


def _template(section: Section, family: str) -> str:
    return re.sub(rf"\b{re.escape(family)}\b", "{family}", section.title, count=1)


def _guides(seen: Observations, found: RecoveredWording) -> None:
    """Tells the writer's guide from other readers': by who sees recipes, else by name, else by whom it addresses."""
    guides: dict[str, str] = {}
    for observation in seen.memories:
        if observation.policy.guide is Guide.BY_WRITER and observation.context.guide is not None:
            guides.setdefault(observation.reader, observation.context.guide)
    names = [set(_PARENTHESISED.findall(guide)) for guide in guides.values()]
    gated = set(_PARENTHESISED.findall(found.phrases.get("guide_gated", "")))
    shared = set.intersection(*names) - gated if names else set()
    if len(shared) != 1:
        return
    found.display_name = shared.pop()
    mark = f"({found.display_name})"
    if found.writer is None:
        found.writer = _writer_by_name(guides, found.display_name) or _writer_by_address(guides, mark)
    for reader, guide in guides.items():
        place = "guide_writer" if reader == found.writer else "guide_other"
        found.phrases.setdefault(place, guide.replace(mark, "({writer})"))


def _writer_by_recipes(seen: Observations) -> str | None:
    """The one reader to whom the policy that hides others' recipes shows them."""
    shown: dict[str, bool] = {}
    for observation in seen.of("living:rC"):
        shown[observation.reader] = shown.get(observation.reader, False) or observation.context.recipes is not None
    writers = [reader for reader, sees_recipes in shown.items() if sees_recipes]
    return writers[0] if len(writers) == 1 and len(shown) > 1 else None


def _writer_by_name(guides: dict[str, str], display_name: str) -> str | None:
    """The reader whose name is the display name, case and punctuation aside."""
    return next((reader for reader in guides if _plain(reader) == _plain(display_name)), None)


def _writer_by_address(guides: dict[str, str], mark: str) -> str | None:
    """The one reader whose guide says that the items were verified for `you`."""
    addressed = [reader for reader, guide in guides.items() if f"you {mark}" in guide]
    return addressed[0] if len(addressed) == 1 else None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", name.lower())


def _other_layouts(seen: Observations) -> Iterator[tuple[tuple[str, str, str], str]]:
    yield from seen.texts.get(Layout.PRINCIPLES, {}).items()
