"""Table id_sequence: the last number given out under each id prefix. It never goes back."""

from sqlmodel import Field

from app.models.base import Table


class IdSequenceRow(Table, table=True):
    """The highest number that an id with this prefix ever had."""

    __tablename__ = "id_sequence"

    prefix: str = Field(primary_key=True, max_length=40)
    last: int
