"""Solo baselines from what contexts print and from what gated policies keep and drop.

A context prints two decimals; gates compare unrounded values. Each item that a gate kept or dropped bounds the baseline
it was compared with. A printed value is kept where it fits its bounds; otherwise the middle of what is left of its
rounding interval is taken. An average that is never printed is not stored where the mean of the reader's measured
problems fits the bounds (look-ups derive that mean anyway); else its lower bound is, marked as not measured.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from app.memory.baselines import CAP, mean
from app.memory.formats.contexts import Claim
from app.memory.recovery.items import shown_kernels, shown_recipes
from app.memory.recovery.observations import Observation, Observations
from app.records import Baseline, LineFault, Problem

HALF_CENT = Decimal("0.005")

SourceKey = tuple[str, str]
"""(reader, problem id)."""
AverageKey = tuple[str, str, int]
"""(reader, family, level)."""


@dataclass(slots=True)
class _Bounds:
    """low <= value < high."""

    low: Decimal = Decimal(0)
    high: Decimal = CAP + 1

    def drops(self, speedup: Decimal) -> None:
        """The gate dropped that speedup: the baseline is at least as high."""
        self.low = max(self.low, speedup)

    def keeps(self, speedup: Decimal) -> None:
        """The gate kept that speedup: the baseline is lower."""
        self.high = min(self.high, speedup)

    def admit(self, value: Decimal) -> bool:
        """Whether the value lies inside."""
        return self.low <= value < self.high


class _Evidence:
    """What one document tells about every baseline."""

    def __init__(self, seen: Observations, problems: Mapping[str, Problem]) -> None:
        self._ids = {problem.name: problem.id for problem in problems.values()}
        self._problems = problems
        self.measured: dict[SourceKey, Decimal] = {}
        self.averages: dict[AverageKey, Decimal] = {}
        self.source_bounds: dict[SourceKey, _Bounds] = defaultdict(_Bounds)
        self.average_bounds: dict[AverageKey, _Bounds] = defaultdict(_Bounds)
        for observation, claim in _claims(seen.memories):
            self._printed(observation, claim)
        ungated, gated, targeted = (seen.by_place(p) for p in ("reader_relative", "frontier_gated", "fg_target"))
        for place, observation in gated.items():
            if place in ungated:
                self._source_gate(ungated[place], observation)
            if place in targeted:
                self._target_gate(observation, targeted[place])

    def _source(self, claim: Claim) -> str:
        return claim.problem_id or self._ids.get(claim.problem_name, claim.problem_name)

    def _printed(self, observation: Observation, claim: Claim) -> None:
        if claim.solo is None:
            return
        source = self._source(claim)
        problem = self._problems.get(source)
        if not claim.solo_estimated:
            self.measured[observation.reader, source] = claim.solo
        elif problem is not None:
            self.averages[observation.reader, problem.family, problem.level] = claim.solo

    def _source_gate(self, before: Observation, after: Observation) -> None:
        for claim, kept in _kept(before, after):
            source = self._source(claim)
            problem = self._problems.get(source)
            if claim.speedup is None or problem is None:
                continue
            if (before.reader, source) in self.measured:
                bounds = self.source_bounds[before.reader, source]
            else:
                bounds = self.average_bounds[before.reader, problem.family, problem.level]
            (bounds.keeps if kept else bounds.drops)(claim.speedup)

    def _target_gate(self, before: Observation, after: Observation) -> None:
        target = before.problem
        bounds = self.average_bounds[before.reader, target.family, target.level]
        for claim, kept in _kept(before, after):
            if claim.speedup is not None:
                (bounds.keeps if kept else bounds.drops)(claim.speedup)


def baselines(seen: Observations, problems: Mapping[str, Problem], file: str) -> tuple[list[Baseline], list[LineFault]]:
    """Solo baselines by problem and by (family, level), and the places where the document contradicts itself."""
    evidence = _Evidence(seen, problems)
    found: list[Baseline] = []
    faults: list[LineFault] = []
    by_pair: dict[AverageKey, list[Decimal]] = defaultdict(list)
    for (reader, source), printed in sorted(evidence.measured.items()):
        value = _unrounded(printed, evidence.source_bounds[reader, source])
        if value is None:
            value = printed
            faults.append(LineFault(file, 0, f"gates contradict the printed baseline of {reader} on {source}"))
        found.append(Baseline(reader, value, problem=source))
        if source in problems:
            by_pair[reader, problems[source].family, problems[source].level].append(value)
    for key in sorted(evidence.averages.keys() | evidence.average_bounds.keys()):
        average = _average(key, evidence, mean(by_pair[key]))
        found.extend([average] if average else [])
    return found, faults


def _average(key: AverageKey, evidence: _Evidence, derived: Decimal | None) -> Baseline | None:
    reader, family, level = key
    bounds = evidence.average_bounds[key]
    printed = evidence.averages.get(key)
    if printed is not None:
        value = _unrounded(printed, bounds)
        return Baseline(reader, printed if value is None else value, family=family, level=level)
    if bounds.admit(derived if derived is not None else Decimal(0)) or (derived is None and bounds.low == 0):
        return None
    return Baseline(reader, bounds.low, family=family, level=level, measured=False)


def _unrounded(printed: Decimal, bounds: _Bounds) -> Decimal | None:
    """A value that prints as `printed` and lies inside the bounds; None where there is none."""
    if bounds.admit(printed):
        return printed
    low, high = max(bounds.low, printed - HALF_CENT), min(bounds.high, printed + HALF_CENT)
    return (low + high) / 2 if low < high else None


def _claims(memories: list[Observation]) -> Iterator[tuple[Observation, Claim]]:
    for observation, entry in (*shown_recipes(memories), *shown_kernels(memories)):
        yield observation, entry.claim


def _kept(before: Observation, after: Observation) -> Iterator[tuple[Claim, bool]]:
    """Each claim that stands before a gate, and whether it stands after it."""
    still = {_identity(claim) for _, claim in _claims([after])}
    for _, claim in _claims([before]):
        yield claim, _identity(claim) in still


def _identity(claim: Claim) -> tuple[str, str | None, Decimal | None]:
    return (claim.problem_name, claim.problem_id, claim.speedup)
