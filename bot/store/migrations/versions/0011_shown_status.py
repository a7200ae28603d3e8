"""Which questions show that they are being answered: whoever ends them takes that away."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column(
        "bot_jobs",
        sa.Column("has_status", sa.Boolean(), nullable=False, server_default=sa.false()),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_column("bot_jobs", "has_status")
