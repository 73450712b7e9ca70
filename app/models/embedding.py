"""Table embedding: the vectors from which every vector index can be rebuilt."""

from sqlalchemy import CheckConstraint, Column, LargeBinary
from sqlmodel import Field

from app.models.base import Table


class EmbeddingRow(Table, table=True):
    """One vector of (part of) an item: float32, little-endian, of unit length."""

    __tablename__ = "embedding"
    __table_args__ = (CheckConstraint("dimension > 0", name="dimension_positive"),)

    item_id: str = Field(primary_key=True, foreign_key="item.id", max_length=64)
    part: str = Field(primary_key=True, max_length=16)
    model_id: str = Field(primary_key=True, max_length=100)
    dimension: int
    text_hash: str = Field(max_length=64)
    """Hash of the text that was embedded; while it stays, the vector stays."""
    vector: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
