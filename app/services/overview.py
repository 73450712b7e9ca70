"""Where things stand: the figures of the desk's first page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from app.records import Night
from app.services.assembly import Services
from app.services.health import Check, readiness
from app.services.nights import list_nights
from app.store import overview
from app.store.database import Database
from app.vocabulary import ItemKind, ItemStatus, RunState

DAYS = 7
_STATUSES = (ItemStatus.ACTIVE, ItemStatus.PENDING, ItemStatus.RETIRED, ItemStatus.QUARANTINED)


@dataclass(frozen=True, slots=True)
class Badges:
    """What waits for a curator."""

    pending: int
    findings: int


@dataclass(frozen=True, slots=True)
class DayOfVotes:
    """Votes of one day (UTC); votes that were taken back are subtracted on the day of the taking back."""

    day: date
    helpful: int
    harmful: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of everything."""

    items: Mapping[ItemKind, Mapping[ItemStatus, int]]
    votes: Sequence[DayOfVotes]
    findings: Mapping[str, int]
    """Kind -> open ones."""
    checks: Sequence[Check]
    runs: Mapping[RunState, int]
    night: Night | None
    """The newest one."""

    @property
    def active(self) -> int:
        """Number of items that can be shown."""
        return sum(counts[ItemStatus.ACTIVE] for counts in self.items.values())

    @property
    def pending(self) -> int:
        """Number of items that wait for a curator."""
        return sum(counts[ItemStatus.PENDING] for counts in self.items.values())

    @property
    def votes_total(self) -> tuple[int, int]:
        """Helpful and harmful votes of the week."""
        return sum(day.helpful for day in self.votes), sum(day.harmful for day in self.votes)


def badges(database: Database) -> Badges:
    """What waits for a curator."""
    with database.read() as session:
        return Badges(overview.pending(session), sum(overview.open_findings(session).values()))


def look_over(services: Services, now: datetime) -> Overview:
    """Items by kind and status, votes of the last seven days, open findings, index and queue."""
    first = now.astimezone(UTC).date() - timedelta(days=DAYS - 1)
    with services.database.read() as session:
        counts = overview.items_by_kind_and_status(session)
        events = overview.votes_since(session, datetime.combine(first, datetime.min.time(), UTC))
        findings = overview.open_findings(session)
        runs = overview.runs_by_state(session)
    return Overview(
        items={kind: {status: counts.get((kind, status), 0) for status in _STATUSES} for kind in ItemKind},
        votes=_by_day(events, first),
        findings=findings,
        checks=readiness(services.database, services.embedder, services.catalog),
        runs={state: runs.get(state, 0) for state in RunState},
        night=next(iter(list_nights(services.database, limit=1).nights), None),
    )


def _by_day(events: Sequence[tuple[datetime, int, int]], first: date) -> list[DayOfVotes]:
    sums = {first + timedelta(days=number): [0, 0] for number in range(DAYS)}
    for at, helpful, harmful in events:
        day = sums.get(at.astimezone(UTC).date())
        if day is not None:
            day[0] += helpful
            day[1] += harmful
    return [DayOfVotes(day, helpful, harmful) for day, (helpful, harmful) in sums.items()]
