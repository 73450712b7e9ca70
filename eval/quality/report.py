"""Measures rankings on the graded queries and sets the figures out as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from eval.quality import metrics
from eval.quality.data import KINDS, WORDINGS, Collection
from eval.quality.rankings import Asked, Ranking


@dataclass(frozen=True, slots=True)
class Measured:
    """nDCG@10 and its company for one ranking and one kind of item; intervals are over problems, 95 %."""

    ranking: str
    kind: str
    ndcg: float
    interval: tuple[float, float]
    by_wording: Mapping[str, float]
    by_family: Mapping[str, float]
    left_out_worst: float
    recall_5: float
    recall_10: float
    reciprocal_rank: float
    by_query: Mapping[str, float]


def measure(name: str, kind: str, ranking: Ranking, asked: Sequence[Asked], collection: Collection) -> Measured:
    """Measure one ranking over all queries and wordings."""
    rows = []
    for one in asked:
        grades = {
            item: grade for item, grade in collection.grades[one.query.id].items() if item.startswith(KINDS[kind])
        }
        order = metrics.ordered(ranking(one))
        found = (
            metrics.recall(order, grades, 5),
            metrics.recall(order, grades, 10),
            metrics.reciprocal_rank(order, grades),
        )
        rows.append((one, metrics.ndcg(order, grades), found))
    values = {(one.query.id, one.wording): value for one, value, _ in rows}
    families = sorted({one.query.family for one in asked})
    by_family = {f: metrics.mean([v for one, v, _ in rows if one.query.family == f]) for f in families}
    rest = [metrics.mean([v for one, v, _ in rows if one.query.family != f]) for f in families]
    problems = sorted({one.query.id for one in asked})
    per_problem = [metrics.mean([v for (problem, _), v in values.items() if problem == p]) for p in problems]
    return Measured(
        ranking=name,
        kind=kind,
        ndcg=metrics.mean([value for _, value, _ in rows]),
        interval=metrics.bootstrap_interval(per_problem),
        by_wording={w: metrics.mean([v for (_, wording), v in values.items() if wording == w]) for w in WORDINGS},
        by_family=by_family,
        left_out_worst=min(rest) if len(families) > 1 else 0.0,
        recall_5=metrics.mean([found[0] for _, _, found in rows]),
        recall_10=metrics.mean([found[1] for _, _, found in rows]),
        reciprocal_rank=metrics.mean([found[2] for _, _, found in rows]),
        by_query={f"{problem}/{wording}": value for (problem, wording), value in values.items()},
    )


def as_json(found: Sequence[Measured]) -> list[dict[str, object]]:
    """Return the figures as JSON-ready values, rounded to four decimals."""
    return [{key: _rounded(value) for key, value in asdict(one).items()} for one in found]


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, (list, tuple)) else value


def as_table(found: Sequence[Measured]) -> str:
    """Return a plain table: one line per ranking and kind."""
    head = (
        f"{'ranking':32} {'items':9} "
        + " ".join(f"{w[:10]:>10}" for w in WORDINGS)
        + "      mean    95 % interval  R@10   MRR"
    )
    lines = [head, "-" * len(head)]
    for one in found:
        cells = " ".join(f"{one.by_wording[w]:10.3f}" for w in WORDINGS)
        interval = f"[{one.interval[0]:.3f}, {one.interval[1]:.3f}]"
        rest = f"{one.ndcg:9.3f}   {interval} {one.recall_10:6.2f} {one.reciprocal_rank:6.2f}"
        lines.append(f"{one.ranking:32} {one.kind:9} {cells} {rest}")
    return "\n".join(lines)


def families_table(found: Sequence[Measured]) -> str:
    """Return our ranking's nDCG@10 per family."""
    families = sorted({family for one in found for family in one.by_family})
    lines = [f"{'ranking':32} {'items':9} " + " ".join(f"{family[:14]:>14}" for family in families)]
    for one in found:
        cells = " ".join(f"{one.by_family.get(family, 0.0):14.3f}" for family in families)
        lines.append(f"{one.ranking:32} {one.kind:9} {cells}")
    return "\n".join(lines)
