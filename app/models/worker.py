"""Table worker: the workers that ever said that they are there."""

from datetime import datetime

from sqlmodel import Field

from app.models.base import Table
from app.models.columns import UtcDateTime


class WorkerRow(Table, table=True):
    """One worker process; it lives while its heartbeat is fresh and it has not stopped."""

    __tablename__ = "worker"

    name: str = Field(primary_key=True, max_length=200)
    hardware: str = Field(max_length=100, index=True)
    evaluator: str = Field(max_length=100)
    started_at: datetime = Field(sa_type=UtcDateTime)
    heartbeat_at: datetime = Field(sa_type=UtcDateTime)
    stopped_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
