"""Table redirect: ids that were merged away."""

from sqlmodel import Field

from app.models.base import Table


class RedirectRow(Table, table=True):
    """Where an old id leads."""

    __tablename__ = "redirect"

    from_id: str = Field(primary_key=True, foreign_key="item.id", max_length=64)
    to_id: str = Field(foreign_key="item.id", max_length=64)
    batch: str | None = Field(default=None, max_length=64, index=True)
