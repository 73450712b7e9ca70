"""Table corpus_state: one row that every change of the corpus moves forward."""

from sqlalchemy import CheckConstraint
from sqlmodel import Field

from app.models.base import Table


class CorpusStateRow(Table, table=True):
    """Version of the corpus, and the sentence model that its vectors come from."""

    __tablename__ = "corpus_state"
    __table_args__ = (CheckConstraint("id = 1", name="only_row"),)

    id: int = Field(default=1, primary_key=True, sa_column_kwargs={"autoincrement": False})
    identity: str = Field(max_length=36)
    """A random name given when the database was made, so that derived files know whose they are."""
    version: int = 0
    """Moves with every commit that changes what can be ranked or shown."""
    facts_version: int = 0
    """The corpus version of the last change to problems, readers, baselines, rankings, runs or wording."""
    model_id: str | None = Field(default=None, max_length=100)
    dimension: int | None = None
