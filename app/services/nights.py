"""Nights as they are listed and read."""

from dataclasses import dataclass

from app.errors import UnknownNight
from app.records import Night
from app.store import nights
from app.store.database import Database


@dataclass(frozen=True, slots=True)
class NightListing:
    """Part of a list of nights."""

    nights: list[Night]
    total: int
    next_cursor: str | None


def list_nights(database: Database, *, before: str | None = None, limit: int = 30) -> NightListing:
    """Up to `limit` nights, newest first, from the one before the date `before`."""
    with database.read() as session:
        found, total = nights.page(session, before=before, limit=limit)
    return NightListing(found, total, found[-1].date if len(found) == limit else None)


def get_night(database: Database, date: str) -> Night:
    """The night of a date, or UnknownNight."""
    with database.read() as session:
        night = nights.get(session, date)
    if night is None:
        raise UnknownNight(
            f"There was no night of {date!r}. Nights are named by their date in UTC, such as 2026-11-30."
        )
    return night
