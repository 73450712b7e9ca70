"""Vectors in PostgreSQL as pgvector keeps them: a derived copy of the table `embedding` that can be searched.

It lies in a schema of its own, `playbook_derived`, because it is no truth: it may be dropped at any time, is made anew
by the next server, and is no matter of migrations. A row belongs to one text of one item; a server that still answers
from an older corpus version finds no row of a newer text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from app.store.database import Database

Vector = npt.NDArray[np.float32]

EXACT_UP_TO = 20_000
"""Rows up to which every vector is compared; above it, an HNSW index proposes the candidates."""

BATCH = 2000

_MODEL = "SELECT obj_description(to_regclass('playbook_derived.item_vector'), 'pg_class')"

_MISSING = text("""
    SELECT e.item_id, e.text_hash, e.vector
    FROM embedding e JOIN item i ON i.id = e.item_id AND i.content_hash = e.text_hash
    LEFT JOIN playbook_derived.item_vector v ON v.item_id = e.item_id AND v.text_hash = e.text_hash
    WHERE e.model_id = :model AND e.part = 'head' AND i.changed_in > :since AND v.item_id IS NULL
    ORDER BY e.item_id LIMIT :most
""")

_PUT = text("""
    INSERT INTO playbook_derived.item_vector (item_id, text_hash, vector)
    SELECT item_id, text_hash, CAST(written AS vector)
    FROM unnest(CAST(:ids AS text[]), CAST(:hashes AS text[]), CAST(:vectors AS text[]))
        AS t(item_id, text_hash, written)
    ON CONFLICT DO NOTHING
""")

_OUTDATED = text("""
    DELETE FROM playbook_derived.item_vector v USING item i
    WHERE i.id = v.item_id AND i.content_hash <> v.text_hash AND i.changed_in > :since
""")

_NEAREST = """
    SELECT item_id, text_hash, -(vector <#> CAST(:query AS vector)) AS cosine FROM playbook_derived.item_vector
    {condition} ORDER BY vector <#> CAST(:query AS vector) LIMIT :count
"""


@dataclass(frozen=True, slots=True)
class Near:
    """A text of an item, and the cosine of its vector with the one that was asked for."""

    item_id: str
    text_hash: str
    cosine: float


def prepare(database: Database, model_id: str, dimension: int) -> str | None:
    """Makes the extension and the table, emptied where they were of another model; what stands against it, or None."""
    if database.is_sqlite:
        return "the database is SQLite"
    try:
        with database.engine.begin() as connection:
            # Servers that start together take turns: CREATE ... IF NOT EXISTS alone lets two of them collide.
            connection.execute(text("SELECT pg_advisory_xact_lock(7204118)"))
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
            connection.execute(text("CREATE SCHEMA IF NOT EXISTS playbook_derived"))
            made_for = f"{model_id} {dimension}"
            if connection.execute(text(_MODEL)).scalar() != made_for:
                connection.execute(text("DROP TABLE IF EXISTS playbook_derived.item_vector"))
                connection.execute(
                    text(
                        "CREATE TABLE playbook_derived.item_vector (item_id text NOT NULL, text_hash text NOT NULL, "
                        f"vector vector({int(dimension)}) NOT NULL, PRIMARY KEY (item_id, text_hash))"
                    )
                )
                quoted = made_for.replace("'", "''").replace(":", "\\:")
                connection.execute(text(f"COMMENT ON TABLE playbook_derived.item_vector IS '{quoted}'"))
    except DBAPIError as fault:
        return str(fault.orig).strip().splitlines()[0] if fault.orig else "no reason given"
    return None


def follow(session: Session, model_id: str, *, changed_after: int) -> int:
    """Copies the vectors of texts that changed after that corpus version and have none here; the number copied."""
    session.connection().execute(_OUTDATED, {"since": changed_after})
    copied = 0
    asked = {"model": model_id, "since": changed_after, "most": BATCH}
    while rows := session.connection().execute(_MISSING, asked).all():
        vectors = [_written(np.frombuffer(row[2], dtype="<f4")) for row in rows]
        values = {"ids": [row[0] for row in rows], "hashes": [row[1] for row in rows], "vectors": vectors}
        session.connection().execute(_PUT, values)
        copied += len(rows)
    if copied and _rows(session) > EXACT_UP_TO:
        session.connection().execute(
            text(
                "CREATE INDEX IF NOT EXISTS item_vector_nearest ON playbook_derived.item_vector "
                "USING hnsw (vector vector_ip_ops)"
            )
        )
    return copied


def nearest(session: Session, query: Vector, count: int, item_ids: Sequence[str] | None = None) -> list[Near]:
    """The nearest texts, best first. With `item_ids`, of those items alone, and every one of them is compared."""
    values: dict[str, object] = {"query": _written(query), "count": count}
    if item_ids is None:
        session.connection().execute(text("SET LOCAL hnsw.ef_search = 1000"))
        session.connection().execute(text("SET LOCAL hnsw.iterative_scan = 'strict_order'"))
        statement = _NEAREST.format(condition="")
    else:
        statement = _NEAREST.format(condition="WHERE item_id = ANY(CAST(:ids AS text[]))")
        values["ids"] = list(item_ids)
    return [Near(row[0], row[1], float(row[2])) for row in session.connection().execute(text(statement), values)]


def _rows(session: Session) -> int:
    return int(session.connection().execute(text("SELECT count(*) FROM playbook_derived.item_vector")).scalar() or 0)


def _written(vector: Vector) -> str:
    """The vector as pgvector reads it; nine digits give every float32 back."""
    return "[" + ",".join(f"{value:.9g}" for value in vector.tolist()) + "]"
