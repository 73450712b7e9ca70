"""Frozen values about verification: runs, nights and workers."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from app.vocabulary import OrderReason


@dataclass(frozen=True, slots=True)
class Run:
    """One verification run as it is stored; `speedup` only where the verdict allows a figure."""

    id: str
    item_id: str | None
    """The kernel; None for a control of a night."""
    state: str
    hardware: str
    verdict: str | None = None
    speedup: Decimal | None = None
    figures: Mapping[str, Any] | None = None
    fingerprint: Mapping[str, Any] | None = None
    finished_at: datetime | None = None
    content_hash: str | None = None
    """Hash of the code that was judged."""
    reason: str = OrderReason.REQUEST.value
    actor: str | None = None
    night: str | None = None
    control: str | None = None
    """Name of a control: `reference`, `zeros`, or `known-bad NAME`."""
    problem: str | None = None
    """Problem that a control is about."""
    attempts: int = 0
    lost: int = 0
    """Attempts that ended because their worker fell silent."""
    worker: str | None = None
    phase: str | None = None
    queued_at: datetime | None = None
    started_at: datetime | None = None
    heartbeat_at: datetime | None = None

    @property
    def evaluator(self) -> str | None:
        """Version of the evaluator that judged."""
        return (self.fingerprint or {}).get("evaluator")


@dataclass(frozen=True, slots=True)
class Night:
    """One nightly job; what the mappings hold is said where they are made (app.services.nightly)."""

    date: str
    state: str
    hardware: tuple[str, ...]
    plan: Mapping[str, Any]
    opened_by: str
    opened_at: datetime
    summary: Mapping[str, Any] | None = None
    closed_at: datetime | None = None
    notified_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that judges on one device."""

    name: str
    hardware: str
    evaluator: str
    started_at: datetime
    heartbeat_at: datetime
    stopped_at: datetime | None = None
