"""Work orders: verification runs that are queued, claimed and fenced; nights, workers, and demotions of kernels.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

from app.models.columns import UtcDateTime

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

REASONS = "'new', 'edited', 'flaky', 'evaluator', 'oldest', 'confirmation', 'control', 'request'"


def upgrade() -> None:
    op.create_table(
        "night",
        sa.Column("date", sa.String(length=10), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("hardware", sa.JSON(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("summary", sa.JSON(), nullable=True),
        sa.Column("opened_by", sa.String(length=200), nullable=False),
        sa.Column("opened_at", UtcDateTime(), nullable=False),
        sa.Column("closed_at", UtcDateTime(), nullable=True),
        sa.Column("notified_at", UtcDateTime(), nullable=True),
        sa.CheckConstraint(
            "state IN ('controls', 'kernels', 'confirming', 'closed')", name=op.f("ck_night_state_known")
        ),
        sa.PrimaryKeyConstraint("date", name=op.f("pk_night")),
    )
    op.create_table(
        "worker",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("hardware", sa.String(length=100), nullable=False),
        sa.Column("evaluator", sa.String(length=100), nullable=False),
        sa.Column("started_at", UtcDateTime(), nullable=False),
        sa.Column("heartbeat_at", UtcDateTime(), nullable=False),
        sa.Column("stopped_at", UtcDateTime(), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_worker")),
    )
    op.create_index(op.f("ix_worker_hardware"), "worker", ["hardware"], unique=False)
    op.add_column("item", sa.Column("demotions", sa.JSON(), nullable=True))
    with op.batch_alter_table("verification_run", schema=None) as batch_op:
        batch_op.alter_column("item_id", existing_type=sa.String(length=64), nullable=True)
        batch_op.add_column(sa.Column("control", sa.String(length=100), nullable=True))
        batch_op.add_column(sa.Column("problem", sa.String(length=200), nullable=True))
        batch_op.add_column(sa.Column("reason", sa.String(length=20), nullable=False, server_default="request"))
        batch_op.add_column(sa.Column("actor", sa.String(length=200), nullable=True))
        batch_op.add_column(sa.Column("night", sa.String(length=10), nullable=True))
        batch_op.add_column(sa.Column("content_hash", sa.String(length=64), nullable=True))
        batch_op.add_column(sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"))
        batch_op.add_column(sa.Column("lost", sa.Integer(), nullable=False, server_default="0"))
        batch_op.add_column(sa.Column("worker", sa.String(length=200), nullable=True))
        batch_op.add_column(sa.Column("phase", sa.String(length=40), nullable=True))
        batch_op.add_column(sa.Column("queued_at", UtcDateTime(), nullable=True))
        batch_op.add_column(sa.Column("started_at", UtcDateTime(), nullable=True))
        batch_op.add_column(sa.Column("heartbeat_at", UtcDateTime(), nullable=True))
    # Runs that are there were made at once, without an order.
    op.execute("UPDATE verification_run SET queued_at = COALESCE(finished_at, CURRENT_TIMESTAMP)")
    # No version so far could queue or claim a run: what an import may have left in these states has nobody behind it.
    op.execute("UPDATE verification_run SET state = 'queued' WHERE state = 'running'")
    with op.batch_alter_table("verification_run", schema=None) as batch_op:
        batch_op.alter_column("queued_at", existing_type=UtcDateTime(), nullable=False)
        batch_op.alter_column("reason", existing_type=sa.String(length=20), nullable=False, server_default=None)
        batch_op.alter_column("attempts", existing_type=sa.Integer(), nullable=False, server_default=None)
        batch_op.alter_column("lost", existing_type=sa.Integer(), nullable=False, server_default=None)
        batch_op.create_check_constraint(batch_op.f("ck_verification_run_reason_known"), f"reason IN ({REASONS})")
        batch_op.create_check_constraint(batch_op.f("ck_verification_run_attempts_not_negative"), "attempts >= 0")
        batch_op.create_check_constraint(batch_op.f("ck_verification_run_lost_not_negative"), "lost >= 0")
        batch_op.create_check_constraint(
            batch_op.f("ck_verification_run_running_has_worker"), "state <> 'running' OR worker IS NOT NULL"
        )
        batch_op.create_check_constraint(
            batch_op.f("ck_verification_run_kernel_or_control"), "(item_id IS NULL) <> (control IS NULL)"
        )
        batch_op.create_foreign_key(batch_op.f("fk_verification_run_night_night"), "night", ["night"], ["date"])
        batch_op.create_index(batch_op.f("ix_verification_run_state_hardware"), ["state", "hardware"], unique=False)
        batch_op.create_index(batch_op.f("ix_verification_run_queued_at_id"), ["queued_at", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_verification_run_night"), ["night"], unique=False)


def downgrade() -> None:
    op.execute("DELETE FROM verification_run WHERE item_id IS NULL")
    with op.batch_alter_table("verification_run", schema=None) as batch_op:
        for columns in ("night", "queued_at_id", "state_hardware"):
            batch_op.drop_index(batch_op.f(f"ix_verification_run_{columns}"))
        batch_op.drop_constraint(batch_op.f("fk_verification_run_night_night"), type_="foreignkey")
        for name in ("kernel_or_control", "running_has_worker", "lost_not_negative", "attempts_not_negative"):
            batch_op.drop_constraint(batch_op.f(f"ck_verification_run_{name}"), type_="check")
        batch_op.drop_constraint(batch_op.f("ck_verification_run_reason_known"), type_="check")
    with op.batch_alter_table("verification_run", schema=None) as batch_op:
        for name in ("heartbeat_at", "started_at", "queued_at", "phase", "worker", "lost", "attempts"):
            batch_op.drop_column(name)
        for name in ("content_hash", "night", "actor", "reason", "problem", "control"):
            batch_op.drop_column(name)
        batch_op.alter_column("item_id", existing_type=sa.String(length=64), nullable=False)
    op.drop_column("item", "demotions")
    op.drop_index(op.f("ix_worker_hardware"), table_name="worker")
    op.drop_table("worker")
    op.drop_table("night")
