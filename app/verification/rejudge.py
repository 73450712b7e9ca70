"""Judging a record that travelled: its verdict, figures and flags have to follow from its own evidence."""

import dataclasses
import math
from typing import Any

from app.errors import InvalidInput
from app.verification.facts import CaseFact, CheckFact, Facts, LaunchFact, PhaseEnd, TimingFact
from app.verification.record import Figures, RunRecord
from app.verification.verdict import detail_of, figures_of, flags_of, verdict_of

_CLOSE = 1e-9
"""Relative difference that another machine's exponential may make."""


def facts_of(evidence: dict[str, Any]) -> Facts:
    """The facts that a record's evidence holds. Raises InvalidInput for another shape."""
    names = {field.name for field in dataclasses.fields(Facts)}
    try:
        values = {name: value for name, value in evidence.items() if name in names}
        values["cases"] = [CaseFact(**case) for case in values["cases"]]
        if values["timing"] is not None:
            checks = [CheckFact(**check) for check in values["timing"]["checks"]]
            values["timing"] = {**values["timing"], "checks": checks}
        for name, kind in (("end", PhaseEnd), ("launch", LaunchFact), ("timing", TimingFact)):
            values[name] = None if values[name] is None else kind(**values[name])
        if values["infrastructure"] is not None:
            word, detail = values["infrastructure"]
            values["infrastructure"] = (str(word), str(detail))
        return Facts(**values)
    except (KeyError, TypeError, ValueError) as fault:
        raise InvalidInput(f"no evidence of a run: {fault}") from fault


def contradiction(record: RunRecord) -> str:
    """What in the record does not follow from its evidence; empty where all of it does."""
    try:
        facts = facts_of(record.evidence)
        verdict = verdict_of(facts)
        figures = figures_of(facts) if verdict.is_success else None
        flags, detail = flags_of(facts), detail_of(facts)[:2000]
    except (InvalidInput, ValueError, TypeError, KeyError, ArithmeticError) as fault:
        return f"its evidence cannot be judged: {fault}"
    if verdict is not record.verdict:
        return f"it says {record.verdict}, its evidence {verdict}"
    if not _same(figures, record.figures):
        return "its figures do not follow from its readings"
    if (flags, detail) != (record.flags, record.detail):
        return "its flags or its detail do not follow from its evidence"
    if facts.on_gpu != record.device.startswith("cuda"):
        return "its device is another one than its evidence tells of"
    return ""


def _same(one: Figures | None, other: Figures | None) -> bool:
    if one is None or other is None:
        return one is other
    pairs = zip(dataclasses.astuple(one), dataclasses.astuple(other), strict=True)
    return all(_close(a, b) for a, b in pairs)


def _close(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=_CLOSE)
    return bool(one == other)
