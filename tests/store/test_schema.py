"""The migrated schema is the schema of the models, on both databases."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from app.errors import WrongMigration
from app.models.base import Table
from app.services.migrate import ensure_migrated, migrate
from app.settings import Settings
from app.store import migrations
from app.store.database import Database


def test_migrated_schema_equals_the_models(any_database: Database) -> None:
    with any_database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "render_as_batch": True})
        assert compare_metadata(context, Table.metadata) == []


def test_migrating_twice_changes_nothing_the_second_time(any_settings: Settings) -> None:
    database = Database(any_settings)
    assert migrate(database)
    assert not migrate(database)
    database.dispose()


def test_a_database_of_an_unknown_level_is_refused_with_advice(any_database: Database) -> None:
    with any_database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(WrongMigration, match="newer version"):
        migrate(any_database)
    with pytest.raises(WrongMigration, match="playbook migrate"):
        ensure_migrated(any_database)


def test_constraints_stand_in_the_database_itself(any_database: Database) -> None:
    from sqlalchemy.exc import IntegrityError

    columns = "id, kind, section, position, text, status, helpful, harmful, provenance, content_hash, version"
    values = "'x-1', 'poem', 's', 0, 't', 'active', 0, 0, '{}', 'h', 1, 1, '2026-01-01', '2026-01-01'"
    for wrong in (values, values.replace("'poem'", "'bullet'").replace("0, 0, '{}'", "0, -1, '{}'")):
        with pytest.raises(IntegrityError), any_database.engine.begin() as connection:
            connection.execute(
                text(f"INSERT INTO item ({columns}, changed_in, created_at, updated_at) VALUES ({wrong})")
            )


def test_every_downgrade_leads_back_to_an_empty_database(any_database: Database) -> None:
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import inspect

    config = Config()
    config.set_main_option("script_location", str(migrations.SCRIPTS))
    with any_database.engine.execution_options(begin_immediate=True).begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "base")
    with any_database.engine.connect() as connection:
        assert set(inspect(connection).get_table_names()) <= {"alembic_version"}


def test_runs_that_were_there_before_work_orders_stay_as_they_are(any_settings: Settings) -> None:
    from alembic import command
    from alembic.config import Config

    from app.store import runs

    database = Database(any_settings)
    config = Config()
    config.set_main_option("script_location", str(migrations.SCRIPTS))
    columns = "id, kind, section, position, text, status, helpful, harmful, provenance, content_hash, version"
    item = "'ker-00001', 'kernel', 's', 0, 't', 'active', 0, 0, '{}', 'h', 1, 1, '2026-01-01', '2026-01-01'"
    with database.engine.execution_options(begin_immediate=True).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0002")
        connection.execute(text(f"INSERT INTO item ({columns}, changed_in, created_at, updated_at) VALUES ({item})"))
        connection.execute(
            text(
                "INSERT INTO verification_run (id, item_id, state, hardware, verdict, finished_at) VALUES "
                "('run-1', 'ker-00001', 'finished', 'NVIDIA H200', 'verified', '2026-11-01 10:00:00')"
            )
        )
        command.upgrade(config, "head")
    with database.read() as session:
        kept = runs.get(session, "run-1")
        assert [run.id for run in runs.page(session, after=None, limit=5).runs] == ["run-1"]
    assert kept is not None
    assert (kept.state, kept.verdict, kept.attempts, kept.reason) == ("finished", "verified", 0, "request")
    assert kept.queued_at == kept.finished_at
    database.dispose()
