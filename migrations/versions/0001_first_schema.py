"""First schema: items and all that describes them, with the one row of corpus_state.

Revision ID: 0001
Revises:
"""

import uuid

import sqlalchemy as sa
from alembic import op

from app.models.columns import ExactDecimal, UtcDateTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "context_record",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("policy", sa.String(length=200), nullable=False),
        sa.Column("reader", sa.String(length=200), nullable=True),
        sa.Column("task", sa.JSON(), nullable=False),
        sa.Column("item_ids", sa.JSON(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("left_out", sa.JSON(), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.CheckConstraint("tokens >= 0", name=op.f("ck_context_record_tokens_not_negative")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_context_record")),
    )
    op.create_table(
        "corpus_state",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("identity", sa.String(length=36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("facts_version", sa.Integer(), nullable=False),
        sa.Column("model_id", sa.String(length=100), nullable=True),
        sa.Column("dimension", sa.Integer(), nullable=True),
        sa.CheckConstraint("id = 1", name=op.f("ck_corpus_state_only_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_corpus_state")),
    )
    op.create_table(
        "feedback",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("idempotency_key", sa.String(length=300), nullable=True),
        sa.Column("body_hash", sa.String(length=64), nullable=False),
        sa.Column("context_id", sa.String(length=64), nullable=True),
        sa.Column("reader", sa.String(length=200), nullable=True),
        sa.Column("task", sa.JSON(), nullable=True),
        sa.Column("outcome", sa.JSON(), nullable=True),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feedback")),
        sa.UniqueConstraint("idempotency_key", name=op.f("uq_feedback_idempotency_key")),
    )
    with op.batch_alter_table("feedback", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_feedback_context_id"), ["context_id"], unique=False)

    op.create_table(
        "finding",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("item_ids", sa.JSON(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("operation", sa.JSON(), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("actor", sa.String(length=200), nullable=True),
        sa.Column("found_at", UtcDateTime(), nullable=False),
        sa.Column("closed_at", UtcDateTime(), nullable=True),
        sa.CheckConstraint("state IN ('open', 'accepted', 'dismissed', 'gone')", name=op.f("ck_finding_state_known")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_finding")),
    )
    with op.batch_alter_table("finding", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_finding_kind"), ["kind"], unique=False)
        batch_op.create_index(batch_op.f("ix_finding_state"), ["state"], unique=False)

    op.create_table(
        "id_sequence",
        sa.Column("prefix", sa.String(length=40), nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("prefix", name=op.f("pk_id_sequence")),
    )
    op.create_table(
        "problem",
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("origin", sa.String(length=100), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=300), nullable=False),
        sa.Column("family", sa.String(length=40), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.CheckConstraint("level >= 0", name=op.f("ck_problem_level_not_negative")),
        sa.CheckConstraint("number >= 0", name=op.f("ck_problem_number_not_negative")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_problem")),
    )
    with op.batch_alter_table("problem", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_problem_name"), ["name"], unique=False)

    op.create_table(
        "reader",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("display_name", sa.String(length=200), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_reader")),
    )
    op.create_table(
        "wording",
        sa.Column("place", sa.String(length=40), nullable=False),
        sa.Column("phrase", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("place", name=op.f("pk_wording")),
    )
    op.create_table(
        "baseline",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("reader", sa.String(length=100), nullable=False),
        sa.Column("problem", sa.String(length=200), nullable=True),
        sa.Column("family", sa.String(length=40), nullable=True),
        sa.Column("level", sa.Integer(), nullable=True),
        sa.Column("mean", ExactDecimal(), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=True),
        sa.Column("measured", sa.Boolean(), nullable=False),
        sa.CheckConstraint(
            "(problem IS NOT NULL AND family IS NULL AND level IS NULL)"
            " OR (problem IS NULL AND family IS NOT NULL AND level IS NOT NULL)",
            name=op.f("ck_baseline_problem_or_pair"),
        ),
        sa.ForeignKeyConstraint(["problem"], ["problem.id"], name=op.f("fk_baseline_problem_problem")),
        sa.ForeignKeyConstraint(["reader"], ["reader.name"], name=op.f("fk_baseline_reader_reader")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_baseline")),
    )
    with op.batch_alter_table("baseline", schema=None) as batch_op:
        batch_op.create_index(
            "uq_baseline_reader_family_level",
            ["reader", "family", "level"],
            unique=True,
            sqlite_where=sa.text("problem IS NULL"),
            postgresql_where=sa.text("problem IS NULL"),
        )
        batch_op.create_index(
            "uq_baseline_reader_problem",
            ["reader", "problem"],
            unique=True,
            sqlite_where=sa.text("problem IS NOT NULL"),
            postgresql_where=sa.text("problem IS NOT NULL"),
        )

    op.create_table(
        "item",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("section", sa.String(length=200), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("helpful", sa.Integer(), nullable=False),
        sa.Column("harmful", sa.Integer(), nullable=False),
        sa.Column("text_without_figures", sa.Text(), nullable=True),
        sa.Column("correctness", sa.Boolean(), nullable=True),
        sa.Column("prohibition", sa.Boolean(), nullable=True),
        sa.Column("damage", sa.Text(), nullable=True),
        sa.Column("family", sa.String(length=40), nullable=True),
        sa.Column("source_problem", sa.String(length=200), nullable=True),
        sa.Column("claimed_speedup", ExactDecimal(), nullable=True),
        sa.Column("claim_rank", sa.Integer(), nullable=True),
        sa.Column("writer", sa.String(length=100), nullable=True),
        sa.Column("applies_when", sa.JSON(), nullable=True),
        sa.Column("provenance", sa.JSON(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("source_hash", sa.String(length=64), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("changed_in", sa.Integer(), nullable=False),
        sa.Column("created_at", UtcDateTime(), nullable=False),
        sa.Column("updated_at", UtcDateTime(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('bullet', 'lesson', 'pitfall', 'recipe', 'memory', 'kernel')", name=op.f("ck_item_kind_known")
        ),
        sa.CheckConstraint(
            "status IN ('pending', 'active', 'retired', 'quarantined')", name=op.f("ck_item_status_known")
        ),
        sa.CheckConstraint("harmful >= 0", name=op.f("ck_item_harmful_not_negative")),
        sa.CheckConstraint("helpful >= 0", name=op.f("ck_item_helpful_not_negative")),
        sa.ForeignKeyConstraint(["writer"], ["reader.name"], name=op.f("fk_item_writer_reader")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item")),
    )
    with op.batch_alter_table("item", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_item_changed_in"), ["changed_in"], unique=False)
        batch_op.create_index(batch_op.f("ix_item_content_hash"), ["content_hash"], unique=False)
        batch_op.create_index(batch_op.f("ix_item_kind_source_hash"), ["kind", "source_hash"], unique=False)

    op.create_table(
        "counter_event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("uid", sa.String(length=36), nullable=False),
        sa.Column("item_id", sa.String(length=64), nullable=False),
        sa.Column("helpful", sa.Integer(), nullable=False),
        sa.Column("harmful", sa.Integer(), nullable=False),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("reader", sa.String(length=200), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("feedback_id", sa.String(length=64), nullable=True),
        sa.Column("batch", sa.String(length=64), nullable=True),
        sa.Column("reverts", sa.String(length=36), nullable=True),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(["feedback_id"], ["feedback.id"], name=op.f("fk_counter_event_feedback_id_feedback")),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_counter_event_item_id_item")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_counter_event")),
        sa.UniqueConstraint("reverts", name=op.f("uq_counter_event_reverts")),
        sa.UniqueConstraint("uid", name=op.f("uq_counter_event_uid")),
    )
    with op.batch_alter_table("counter_event", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_counter_event_batch"), ["batch"], unique=False)
        batch_op.create_index(batch_op.f("ix_counter_event_feedback_id"), ["feedback_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_counter_event_item_id"), ["item_id"], unique=False)

    op.create_table(
        "derived_record",
        sa.Column("item_id", sa.String(length=64), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("family", sa.String(length=40), nullable=False),
        sa.Column("source_problem", sa.String(length=200), nullable=False),
        sa.Column("lexicon", sa.String(length=64), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_derived_record_item_id_item")),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_derived_record")),
    )
    op.create_table(
        "embedding",
        sa.Column("item_id", sa.String(length=64), nullable=False),
        sa.Column("part", sa.String(length=16), nullable=False),
        sa.Column("model_id", sa.String(length=100), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("dimension > 0", name=op.f("ck_embedding_dimension_positive")),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_embedding_item_id_item")),
        sa.PrimaryKeyConstraint("item_id", "part", "model_id", name=op.f("pk_embedding")),
    )
    op.create_table(
        "item_revision",
        sa.Column("item_id", sa.String(length=64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(length=16), nullable=False),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("at", UtcDateTime(), nullable=False),
        sa.Column("state", sa.JSON(), nullable=False),
        sa.Column("batch", sa.String(length=64), nullable=True),
        sa.Column("reverts", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "reason IN ('import', 'create', 'edit', 'retire', 'merge', 'revert')",
            name=op.f("ck_item_revision_reason_known"),
        ),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_item_revision_item_id_item")),
        sa.PrimaryKeyConstraint("item_id", "version", name=op.f("pk_item_revision")),
    )
    with op.batch_alter_table("item_revision", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_item_revision_batch"), ["batch"], unique=False)

    op.create_table(
        "kernel",
        sa.Column("item_id", sa.String(length=64), nullable=False),
        sa.Column("language", sa.String(length=16), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("entry_point", sa.String(length=100), nullable=False),
        sa.CheckConstraint("language IN ('triton', 'cuda')", name=op.f("ck_kernel_language_known")),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_kernel_item_id_item")),
        sa.PrimaryKeyConstraint("item_id", name=op.f("pk_kernel")),
    )
    with op.batch_alter_table("kernel", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_kernel_content_hash"), ["content_hash"], unique=False)

    op.create_table(
        "recorded_ranking",
        sa.Column("source", sa.String(length=40), nullable=False),
        sa.Column("problem", sa.String(length=200), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.String(length=64), nullable=False),
        sa.CheckConstraint("place >= 0", name=op.f("ck_recorded_ranking_place_not_negative")),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_recorded_ranking_item_id_item")),
        sa.ForeignKeyConstraint(["problem"], ["problem.id"], name=op.f("fk_recorded_ranking_problem_problem")),
        sa.PrimaryKeyConstraint("source", "problem", "place", name=op.f("pk_recorded_ranking")),
    )
    op.create_table(
        "redirect",
        sa.Column("from_id", sa.String(length=64), nullable=False),
        sa.Column("to_id", sa.String(length=64), nullable=False),
        sa.Column("batch", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["from_id"], ["item.id"], name=op.f("fk_redirect_from_id_item")),
        sa.ForeignKeyConstraint(["to_id"], ["item.id"], name=op.f("fk_redirect_to_id_item")),
        sa.PrimaryKeyConstraint("from_id", name=op.f("pk_redirect")),
    )
    with op.batch_alter_table("redirect", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_redirect_batch"), ["batch"], unique=False)

    op.create_table(
        "verification_run",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("item_id", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("hardware", sa.String(length=100), nullable=False),
        sa.Column("verdict", sa.String(length=40), nullable=True),
        sa.Column("speedup", ExactDecimal(), nullable=True),
        sa.Column("figures", sa.JSON(), nullable=True),
        sa.Column("fingerprint", sa.JSON(), nullable=True),
        sa.Column("finished_at", UtcDateTime(), nullable=True),
        sa.CheckConstraint(
            "speedup IS NULL OR verdict IN ('verified', 'verified_slower')",
            name=op.f("ck_verification_run_figures_of_correct_runs"),
        ),
        sa.CheckConstraint(
            "state <> 'finished' OR verdict IS NOT NULL", name=op.f("ck_verification_run_finished_has_verdict")
        ),
        sa.CheckConstraint("state IN ('queued', 'running', 'finished')", name=op.f("ck_verification_run_state_known")),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"], name=op.f("fk_verification_run_item_id_item")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verification_run")),
    )
    with op.batch_alter_table("verification_run", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_verification_run_item_id_hardware_finished_at"),
            ["item_id", "hardware", "finished_at"],
            unique=False,
        )

    op.bulk_insert(
        sa.table(
            "corpus_state", sa.column("id"), sa.column("identity"), sa.column("version"), sa.column("facts_version")
        ),
        [{"id": 1, "identity": str(uuid.uuid4()), "version": 0, "facts_version": 0}],
    )


def downgrade() -> None:
    with op.batch_alter_table("verification_run", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_verification_run_item_id_hardware_finished_at"))

    op.drop_table("verification_run")
    with op.batch_alter_table("redirect", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_redirect_batch"))

    op.drop_table("redirect")
    op.drop_table("recorded_ranking")
    with op.batch_alter_table("kernel", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_kernel_content_hash"))

    op.drop_table("kernel")
    with op.batch_alter_table("item_revision", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_item_revision_batch"))

    op.drop_table("item_revision")
    op.drop_table("embedding")
    op.drop_table("derived_record")
    with op.batch_alter_table("counter_event", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_counter_event_item_id"))
        batch_op.drop_index(batch_op.f("ix_counter_event_feedback_id"))
        batch_op.drop_index(batch_op.f("ix_counter_event_batch"))

    op.drop_table("counter_event")
    with op.batch_alter_table("item", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_item_kind_source_hash"))
        batch_op.drop_index(batch_op.f("ix_item_content_hash"))
        batch_op.drop_index(batch_op.f("ix_item_changed_in"))

    op.drop_table("item")
    with op.batch_alter_table("baseline", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_baseline_reader_problem",
            sqlite_where=sa.text("problem IS NOT NULL"),
            postgresql_where=sa.text("problem IS NOT NULL"),
        )
        batch_op.drop_index(
            "uq_baseline_reader_family_level",
            sqlite_where=sa.text("problem IS NULL"),
            postgresql_where=sa.text("problem IS NULL"),
        )

    op.drop_table("baseline")
    op.drop_table("wording")
    op.drop_table("reader")
    with op.batch_alter_table("problem", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_problem_name"))

    op.drop_table("problem")
    op.drop_table("id_sequence")
    with op.batch_alter_table("finding", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_finding_state"))
        batch_op.drop_index(batch_op.f("ix_finding_kind"))

    op.drop_table("finding")
    with op.batch_alter_table("feedback", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_feedback_context_id"))

    op.drop_table("feedback")
    op.drop_table("corpus_state")
    op.drop_table("context_record")
