"""What time it is for everything that compares moments between hosts: the database's clock, never a worker's own."""

from datetime import UTC, datetime

from sqlalchemy import func
from sqlmodel import Session, select


def now(session: Session) -> datetime:
    """The present moment by PostgreSQL's clock; with SQLite everybody is on one host and has its clock."""
    if session.get_bind().dialect.name == "sqlite":
        return datetime.now(UTC)
    moment: datetime = session.exec(select(func.clock_timestamp())).one()
    return moment.astimezone(UTC)
