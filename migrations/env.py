"""Alembic's entry point: runs migrations on the connection it is handed, or on the configured database."""

from alembic import context
from sqlalchemy import Connection

import app.models  # noqa: F401  registers the tables
from app.models.base import Table
from app.settings import Settings
from app.store.database import Database


def run(connection: Connection) -> None:
    """Runs the migrations of this script folder."""
    context.configure(connection=connection, target_metadata=Table.metadata, render_as_batch=True, compare_type=True)
    context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    with Database(Settings()).engine.begin() as own:
        run(own)
