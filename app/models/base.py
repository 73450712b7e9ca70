"""The base of every table: SQLModel with named constraints."""

from sqlalchemy import MetaData
from sqlmodel import SQLModel

from app.models.columns import NAMING


class Table(SQLModel):
    """Base of the tables. Rows are validated at the edge, not here: table models accept what they are given."""

    metadata = MetaData(naming_convention=NAMING)
