"""Reads a task, in whatever form an agent has it, into a `TaskProfile`. The one public function is `read_task`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from app.memory.lexicon import Lexicon, load_lexicon
from app.memory.lexicon.words import normalise
from app.memory.task.code_reading import CodeReading, read_code
from app.memory.task.fallback import Embed, guess_operations
from app.memory.task.families import dominant_operation, family_of_name, family_of_operations
from app.memory.task.names import read_problem_name
from app.memory.task.profile import MAX_OPERATIONS, Evidence, OperationUse, Shape, TaskProfile
from app.memory.task.prose import ProseReading, read_prose
from app.memory.task.quantities import NO_QUANTITIES, Quantities, read_quantities
from app.memory.task.regimes import derive_regimes, usual_regimes
from app.memory.task.separation import separate

ASSUMED_CERTAINTY = 0.6
UNSURE = 0.1
OF_THE_CRAFT = 0.35  # of a text that is about writing kernels, whatever it was read as: general advice is of use
# Steps that, alone and not named, are no sign of a task: "a scale model".
_SLIGHT = frozenset(
    {"scalar_multiply", "scalar_add", "bias_add", "residual_add", "elementwise_multiply", "channel_scale", "gather",
     "concat", "slice_last", "masked_fill", "pad", "transpose"}
)  # fmt: skip
CONFIDENT = 0.6  # at or above this the sentence model is not asked
_HEAVY = frozenset(
    {
        "conv",
        "conv_transpose",
        "depthwise_conv",
        "gemm",
        "special_matrix",
        "attention",
        "recurrence",
        "network_block",
        "scan",
        "loss",
    }
)


def read_task(
    text: str | None,
    code: str | None,
    *,
    problem_name: str | None = None,
    level: int | None = None,
    family: str | None = None,
    embed: Embed | None = None,
) -> TaskProfile:
    """Understand a task from prose, source code, a problem's name, or several of them.

    Args:
        text: a request, a terse note or a paraphrase; a Python module inside it is treated as code.
        code: a PyTorch module. It is parsed, never executed.
        problem_name: e.g. ``Gemm_GroupNorm_Hardtanh``; read only where code and text say nothing.
        level: KernelBench level 1 to 3, used for the family.
        family: overrides the family that would be derived.
        embed: texts to unit vectors, float32 (n, d). Asked only where the words leave operations open.

    Returns:
        A profile; an input that says nothing gives confidence 0. No input raises.
    """
    lexicon = load_lexicon()
    prose, embedded_code = separate(text or "")
    source = code or embedded_code
    reading = read_code(source) if source and source.strip() else None
    quantities = read_quantities(normalise(prose), lexicon) if prose else NO_QUANTITIES
    if reading is not None and reading.operations:
        profile = _from_code(reading, quantities, lexicon)
    else:
        profile = _from_words(read_prose(prose, lexicon), quantities, embed, lexicon)
        if reading is not None:
            profile = replace(
                profile, evidence=(*profile.evidence, Evidence("code", reading.note or "no operation found"))
            )
    if problem_name and profile.confidence < 0.5:
        profile = _from_name(problem_name, profile, quantities, lexicon)
    return _completed(profile, problem_name, level, family, lexicon)


def _from_code(reading: CodeReading, quantities: Quantities, lexicon: Lexicon) -> TaskProfile:
    derived = derive_regimes(reading.operations, reading.shapes, lexicon)
    regimes = {**derived, **reading.regimes, **{k: v for k, v in quantities.regimes.items() if k.endswith("mode_norm")}}
    evidence = tuple(Evidence("operation", f"{use.name} from code") for use in reading.operations)
    note = (Evidence("code", reading.note),) if reading.note else ()
    return TaskProfile(
        operations=reading.operations, shapes=reading.shapes, regimes=MappingProxyType(regimes), dtype=quantities.dtype,
        tolerance=quantities.tolerance, confidence=reading.confidence, evidence=evidence + note,
    )  # fmt: skip


def _from_words(words: ProseReading, quantities: Quantities, embed: Embed | None, lexicon: Lexicon) -> TaskProfile:
    uses = [
        OperationUse(m.operation, m.certainty, m.source, quote)
        for m, quote in zip(words.matches, words.quotes, strict=True)
    ]
    places = [match.start for match in words.matches]
    confidence = _confidence(words, uses, lexicon)
    heavy = any(lexicon.kind(use.name) in _HEAVY for use in uses)
    if embed is not None and confidence < CONFIDENT and not heavy and words.content_words:
        guessed = guess_operations(words, [use.name for use in uses], embed, lexicon)
        guessed = [(place, use) for place, use in guessed if not uses or lexicon.kind(use.name) in _HEAVY]
        for place, use in guessed:
            uses.append(use)
            places.append(place)
        if guessed:
            uses = [use for _, use in sorted(zip(places, uses, strict=True), key=lambda pair: pair[0])]
            confidence = max(confidence, _confidence_of_guesses(uses, words, lexicon))
    is_craft = is_about_kernels(words.plain, lexicon)
    if is_craft:
        confidence = max(confidence, OF_THE_CRAFT)
    uses = _with_assumed_core(uses, words, lexicon)
    operations = tuple(_detailed(use, quantities, lexicon) for use in _ordered(uses, lexicon))[:MAX_OPERATIONS]
    regimes = {**derive_regimes(operations, quantities.shapes, lexicon), **quantities.regimes}
    evidence = [Evidence("operation", f"{use.name} from {use.source} '{use.seen}'") for use in operations]
    evidence += [Evidence("negation", removed) for removed in words.negated]
    evidence += [Evidence("topic", "about writing kernels, by its words")] * is_craft
    return TaskProfile(
        operations=operations, shapes=quantities.shapes, regimes=MappingProxyType(regimes), dtype=quantities.dtype,
        tolerance=quantities.tolerance, confidence=round(confidence, 4), evidence=tuple(evidence),
    )  # fmt: skip


def is_about_kernels(text: str, lexicon: Lexicon) -> bool:
    """Whether a text is about writing GPU kernels: a word of the craft, and another one of it or of arrays."""
    sure, likely = (
        {found.replace(" ", "").rstrip("s") for found in pattern.findall(text)} for pattern in lexicon.craft
    )
    return bool(sure) and len(sure | likely) > 1


def _with_assumed_core(uses: list[OperationUse], words: ProseReading, lexicon: Lexicon) -> list[OperationUse]:
    """Give a tail of three steps or more that names no costly operation one: a convolution or an affine layer."""
    if len(uses) < 3 or words.content_words < 6 or any(lexicon.kind(use.name) in _HEAVY for use in uses):
        return uses
    name = {"3d": "conv3d", "2d": "conv2d"}.get(words.dimensions, "linear")
    return [OperationUse(name, ASSUMED_CERTAINTY, "assumed", "a tail needs a source"), *uses]


def _confidence(words: ProseReading, uses: Sequence[OperationUse], lexicon: Lexicon) -> float:
    """Grow with the share of words explained and with named operations; without a costly operation stay low."""
    if not uses:
        return 0.0
    if len(uses) == 1 and uses[0].seen in lexicon.weak_names and words.explained <= 0.5:
        return UNSURE  # one ordinary word, e.g. "attention", in a text about something else
    if all(use.name in _SLIGHT for use in uses) and not any(
        use.source == "name" and use.certainty >= 0.9 for use in uses
    ):
        return UNSURE
    named = [use for use in uses if use.source in {"name", "formula"} and use.certainty >= 0.9]
    heavy_named = any(lexicon.kind(use.name) in _HEAVY for use in named)
    heavy = heavy_named or any(lexicon.kind(use.name) in _HEAVY for use in uses)
    base = 0.45 if heavy_named else 0.3 if heavy or named else 0.15
    return min(1.0, base + 0.06 * min(len(named), 3) + 0.45 * min(1.0, words.explained * 1.3))


def _confidence_of_guesses(uses: Sequence[OperationUse], words: ProseReading, lexicon: Lexicon) -> float:
    heavy = any(lexicon.kind(use.name) in _HEAVY for use in uses)
    best = max(use.certainty for use in uses)
    return min(0.75, (0.35 if heavy else 0.2) + 0.3 * best + 0.3 * words.explained)


def _ordered(uses: Sequence[OperationUse], lexicon: Lexicon) -> list[OperationUse]:
    """Put network blocks first, and a costly operation told by a phrase before its tail ("standardise the filtered
    ...").
    """
    blocks = [use for use in uses if lexicon.kind(use.name) == "network_block"]
    rest = [use for use in uses if use not in blocks]
    heavy = [use for use in rest if lexicon.kind(use.name) in _HEAVY]
    if len(heavy) == 1 and heavy[0].source == "phrase":
        rest = [heavy[0], *(use for use in rest if use is not heavy[0])]
    unique = {use.name: use for use in reversed(blocks)}
    return [*reversed(unique.values()), *rest]


def _detailed(use: OperationUse, quantities: Quantities, lexicon: Lexicon) -> OperationUse:
    kind = lexicon.kind(use.name)
    if kind in {"conv", "conv_transpose"} and quantities.convolution:
        dimensions = use.name[-2:] if use.name[-1:] == "d" else "2d"
        kernel = quantities.convolution.get("kernel", ())
        detail = dict(quantities.convolution)
        if kernel and len(kernel) == 1:
            detail["kernel"] = kernel * int(dimensions[0])
        return replace(use, detail=MappingProxyType(detail))
    if kind == "gemm":
        return replace(use, detail=quantities.product)
    if kind == "recurrence":
        return replace(use, detail=quantities.recurrence)
    return replace(use, detail=quantities.norm) if use.name == "group_norm" else use


def _from_name(name: str, profile: TaskProfile, quantities: Quantities, lexicon: Lexicon) -> TaskProfile:
    operations, told = read_problem_name(name, lexicon)
    if not operations:
        return profile
    regimes = {**derive_regimes(operations, quantities.shapes, lexicon), **told, **quantities.regimes}
    evidence = tuple(Evidence("operation", f"{use.name} from problem name") for use in operations)
    return replace(
        profile, operations=operations, regimes=MappingProxyType(regimes), confidence=0.85, evidence=evidence
    )


def _completed(
    profile: TaskProfile, name: str | None, level: int | None, family: str | None, lexicon: Lexicon
) -> TaskProfile:
    chain = profile.chain
    derived = family or (family_of_name(name, level) if name else "") or family_of_operations(chain, lexicon)
    dominant = dominant_operation(chain, lexicon)
    detail: Mapping[str, object] = next((use.detail for use in profile.operations if use.name == dominant), {})
    axes = next((use.detail["axes"] for use in profile.operations if use.detail.get("axes")), None)
    stride = detail.get("stride")
    groups = detail.get("groups")
    mode = (
        "train" if profile.regimes.get("train_mode_norm") else "eval" if profile.regimes.get("eval_mode_norm") else None
    )
    regimes = dict(profile.regimes)
    if profile.tolerance is not None:
        regimes["tolerance_1e-4"] = profile.tolerance <= 2e-4
        regimes["tolerance_1e-2"] = profile.tolerance >= 5e-3
    layout = next((n.removesuffix("_layout") for n, holds in regimes.items() if n.endswith("_layout") and holds), None)
    shapes: tuple[Shape, ...] = profile.shapes
    return replace(
        profile, dominant=dominant, family=derived, level=level, problem_name=name, shapes=shapes,
        groups=groups if isinstance(groups, int) else None, stride=stride if isinstance(stride, tuple) else None,
        reduction_axes=axes, gemm_layout=layout, norm_mode=mode, regimes=MappingProxyType(regimes),
        assumed=usual_regimes(profile.operations, regimes, lexicon),
    )  # fmt: skip
