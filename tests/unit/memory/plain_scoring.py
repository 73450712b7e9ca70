"""The ranking's formula once more, item by item and without arrays: slow, plain, and what the fast one must equal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from app.memory.applies_when import AppliesWhen
from app.memory.ranking import ItemFacts
from app.memory.ranking import conditions as rules
from app.memory.ranking import scoring as constants
from app.memory.ranking.compiled import MAX_STRONG, OPTIONAL_WEIGHT
from app.memory.ranking.query import QueryVectors, query_vectors
from app.memory.ranking.similarity import Table, similarity_table
from app.memory.task import TaskProfile


class PlainScorer:
    """Scores one item after another for one task."""

    def __init__(self, profile: TaskProfile) -> None:
        self._table: Table = similarity_table()
        self._query: QueryVectors = query_vectors(profile)
        self._regimes = {name: place for place, name in enumerate(self._table.lexicon.regimes)}
        self._families = {name: place for place, name in enumerate(self._table.lexicon.families)}

    def score(self, facts: ItemFacts, evidence: Sequence[float] = ()) -> float:
        record, found = facts.record, facts.verification * constants.understanding(self._query.confidence)
        if evidence:
            mean = sum(min(max(value, 0.0), 1.0) for value in evidence) / len(evidence)
            found *= 1 - constants.EVIDENCE_SPAN * (1 - mean)
        votes = facts.helpful + facts.harmful
        if record.generic:
            return found * constants.GENERIC_BASE * self._relevance(record) * (0.5 + 0.5 * votes / (votes + 8))
        found *= 1 - constants.RATE_SPAN * (1 - (facts.helpful + 2) / (votes + 3))
        whole = self._whole(record)
        found *= self._family(record, whole) * self._required(record) * self._anchor(record)
        found *= self._excludes(record, whole) * self._keys(record) * self._structure(record, whole)
        found *= self._foreign(record) * self._agreement(record)
        if rules.about_the_product(record, self._table) and self._query.collapses:
            found *= constants.COLLAPSED
        return found

    def _terms(self, names: Iterable[str], most: int) -> list[int]:
        return [self._table.number[name] for name in names if name in self._table.number][:most]

    def _of_regimes(self, names: Iterable[str], values: np.ndarray, most: int) -> list[float]:
        return [float(values[self._regimes[name]]) for name in names if name in self._regimes][:most]

    def _whole(self, record: AppliesWhen) -> float:
        """1 where the task holds, by name, everything telling that an item is about."""
        anchor = self._terms(record.anchor, rules.MAX_TERMS)
        telling = sum(
            bool(self._table.telling[self._table.number[n]]) for n in record.anchor if n in self._table.number
        )
        present = sum(float(self._query.telling[term]) for term in anchor)
        return float(telling > 0 and present >= telling * 0.9)

    def _family(self, record: AppliesWhen, whole: float) -> float:
        own = [self._families[name] for name in record.families if name in self._families][: rules.MAX_FAMILIES]
        discounts = constants.POSITION_DISCOUNT[:, 0]
        degrees = [float(self._query.family[place]) * discounts[n] for n, place in enumerate(own)]
        core = self._terms(rules.split_required(record, self._table)[0], rules.MAX_CORE)
        demanded = [constants.OWN_OPERATION * float(self._query.heavy[term]) for term in core]
        return max([0.0, *degrees, *demanded, constants.ANCHORED_FAMILY * self._query.part * whole])

    def _required(self, record: AppliesWhen) -> float:
        core, tail = rules.split_required(record, self._table)
        together = float(np.prod([self._query.term[term] for term in self._terms(core, rules.MAX_CORE)] or [1.0]))
        demanded = self._terms(tail, rules.MAX_TERMS)
        share = sum(float(self._query.term[t]) for t in demanded) / len(demanded) if demanded else 1.0
        floor = constants.REQUIRED_FLOOR
        return (floor + (1 - floor) * together) * (floor + (1 - floor) * share)

    def _anchor(self, record: AppliesWhen) -> float:
        anchor = self._terms(record.anchor, rules.MAX_TERMS)
        share = sum(float(self._query.term[t]) for t in anchor) / len(anchor) if anchor else 1.0
        return 1 - constants.ANCHOR_SPAN * (1 - share)

    def _excludes(self, record: AppliesWhen, whole: float) -> float:
        size = len(self._table.number)
        numbers: Mapping[str, int] = {**self._table.number, **{n: size + i for n, i in self._regimes.items()}}
        found = 1.0
        for name in [n for n in record.excludes if n in numbers][: rules.MAX_EXCLUDES]:
            found *= 1 - constants.EXCLUDED_COST * float(self._query.excluded[numbers[name]])
        return max(found, constants.ANCHORED_EXCLUDED * whole)

    def _keys(self, record: AppliesWhen) -> float:
        values = self._of_regimes(record.key_regimes, self._query.regime, rules.MAX_KEYS)
        if not values:
            return 1.0
        best, unknown = max(values), constants.KEY_UNKNOWN
        hard = bool(rules.HARD_REGIMES & set(record.key_regimes))
        if best >= 0.5:
            return unknown + (1 - unknown) * (2 * best - 1)
        denied = constants.KEY_HARD_FALSE if hard else constants.KEY_FALSE
        return denied + (unknown - denied) * 2 * best

    def _structure(self, record: AppliesWhen, whole: float) -> float:
        own = self._terms((*record.chain, *record.anchor, *record.required), 16)
        optional = self._terms(record.optional, 16)
        covered = 0.0
        for number, weight in zip(self._query.operations, self._query.weights, strict=True):
            near = [self._table.similar[term, number] for term in own]
            near += [self._table.similar[term, number] * np.float32(OPTIONAL_WEIGHT) for term in optional]
            covered += float(np.round(max(near, default=np.float32(0.0)) * 255)) / 255 * float(weight)
        floor = constants.STRUCTURE_FLOOR
        found = floor + (1 - floor) * min(covered, 1.0) if len(self._query.operations) else 1.0
        steady = rules.about_the_core(record, self._table) or whole > 0
        return max(found, constants.CORE_STRUCTURE) if steady else found

    def _foreign(self, record: AppliesWhen) -> float:
        strong = self._terms(rules.strong_operations(record, self._table), MAX_STRONG)
        missing = sum(float(self._query.missing[term]) for term in strong)
        return 1 - constants.FOREIGN_COST * missing / (len(strong) + 1)

    def _agreement(self, record: AppliesWhen) -> float:
        signs = self._of_regimes(record.regimes, self._query.regime_sign, rules.MAX_REGIMES)
        share = sum(signs) / (1 + sum(abs(sign) for sign in signs))
        return 1 - constants.REGIME_SPAN * (1 - share) / 2

    def _relevance(self, record: AppliesWhen) -> float:
        about = self._terms((*record.required, *record.anchor), rules.MAX_TERMS)
        optional = self._terms(record.optional, rules.MAX_OPTIONAL)
        families = [self._families[name] for name in record.families if name in self._families][: rules.MAX_FAMILIES]
        near = [float(self._query.exact[term]) for term in about]
        near += [constants.MENTIONED * float(self._query.exact[term]) for term in optional]
        near += [float(self._query.family[f]) * constants.POSITION_DISCOUNT[n, 0] for n, f in enumerate(families)]
        held = self._of_regimes(record.regimes, self._query.regime_sign, rules.MAX_REGIMES)
        near += [constants.MENTIONED * max(sign, 0.0) for sign in held]
        conditional = bool(about or optional or record.families or set(record.regimes) - rules.ROUTES)
        unrelated = constants.UNRELATED
        found = unrelated + (1 - unrelated) * max(near, default=0.0) if conditional else constants.UNIVERSAL
        return found * (constants.ROUTED if rules.ROUTES & set(record.regimes) else 1.0)
