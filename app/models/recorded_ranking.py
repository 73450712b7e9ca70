"""Table recorded_ranking: rankings that were made elsewhere."""

from sqlmodel import Field

from app.models.base import Table
from app.models.columns import not_negative


class RecordedRankingRow(Table, table=True):
    """The place of one item in one recorded ranking; place 0 is best."""

    __tablename__ = "recorded_ranking"
    __table_args__ = (not_negative("place"),)

    source: str = Field(primary_key=True, max_length=40)
    problem: str = Field(primary_key=True, foreign_key="problem.id", max_length=200)
    place: int = Field(primary_key=True)
    item_id: str = Field(foreign_key="item.id", max_length=64)
