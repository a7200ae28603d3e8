"""Thresholds fitted to a company's own questions."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "bot_calibrations",
        sa.Column("embedding_model", sa.String(400), primary_key=True),
        sa.Column("support_model", sa.String(64), nullable=False),
        sa.Column("threshold", sa.Float(), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("fitted_at", sa.Float(), nullable=False),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("bot_calibrations")
