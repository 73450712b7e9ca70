"""What a reader reaches alone: the solo baselines that gates and the `you alone` figures read."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from app.records import Baseline, Problem

CAP = Decimal(10)
"""Solo speedups are capped here, so that one lucky problem does not rule an average."""


@dataclass(frozen=True, slots=True)
class Solo:
    """A mean speedup without memory, and whether it is an average over similar problems."""

    mean: Decimal
    estimated: bool


def mean(values: Iterable[Decimal]) -> Decimal | None:
    """Arithmetic mean, or None of nothing."""
    known = list(values)
    return sum(known, Decimal(0)) / len(known) if known else None


def first_known(*values: Decimal | None) -> Decimal | None:
    """The first value that is not None; a mean of zero is a value."""
    return next((value for value in values if value is not None), None)


@dataclass(slots=True)
class _Known:
    """Baselines of one reader, or of all of them."""

    by_problem: dict[str, list[Decimal]] = field(default_factory=lambda: defaultdict(list))
    by_pair: dict[tuple[str, int], list[Decimal]] = field(default_factory=lambda: defaultdict(list))
    measured: dict[tuple[str, int], list[Decimal]] = field(default_factory=lambda: defaultdict(list))

    def average(self, family: str, level: int) -> Decimal | None:
        """Average on (family, level): as imported, else derived from the measured problems of that pair."""
        pair = (family, level)
        return first_known(mean(self.by_pair.get(pair, ())), mean(self.measured.get(pair, ())))

    def wider_average(self, family: str, level: int) -> Decimal | None:
        """Average on (family, level), else on the family, else on everything."""
        pairs = self.by_pair.keys() | self.measured.keys()
        known = {pair: value for pair in pairs if (value := self.average(*pair)) is not None}
        same_family = [value for pair, value in sorted(known.items()) if pair[0] == family]
        return first_known(known.get((family, level)), mean(same_family), mean(known.values()))


class Baselines:
    """Solo baselines of every reader, ready for look-ups."""

    def __init__(self, baselines: Iterable[Baseline], problems: Mapping[str, Problem]) -> None:
        self._problems = problems
        self._readers: dict[str, _Known] = defaultdict(_Known)
        self._everyone = _Known()
        for baseline in baselines:
            for known in (self._readers[baseline.reader], self._everyone):
                _add(known, baseline, problems)

    def knows(self, reader: str) -> bool:
        """Whether anything was ever measured or estimated for that reader."""
        return reader in self._readers

    def average(self, reader: str, family: str, level: int) -> Decimal | None:
        """The reader's average on (family, level); None where there is no data, which means no threshold.

        A reader that was never measured takes the average of all readers: on the pair, else the family, else all.
        """
        if self.knows(reader):
            return self._readers[reader].average(family, level)
        return self._everyone.wider_average(family, level)

    def solo(self, reader: str, problem_id: str | None) -> Solo | None:
        """The reader's own mean on a problem, or its average on the problem's (family, level), marked as estimated."""
        known = self._readers[reader] if self.knows(reader) else self._everyone
        own = mean(known.by_problem.get(problem_id or "", ()))
        if own is not None:
            return Solo(own, estimated=not self.knows(reader))
        problem = self._problems.get(problem_id or "")
        average = self.average(reader, problem.family, problem.level) if problem else None
        return None if average is None else Solo(average, estimated=True)


def _add(known: _Known, baseline: Baseline, problems: Mapping[str, Problem]) -> None:
    value = min(baseline.mean, CAP)
    if baseline.problem is None:
        if baseline.family is not None and baseline.level is not None:
            known.by_pair[baseline.family, baseline.level].append(value)
        return
    known.by_problem[baseline.problem].append(value)
    problem = problems.get(baseline.problem)
    if problem is not None:
        known.measured[problem.family, problem.level].append(value)
