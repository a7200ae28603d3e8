"""Token states beside the vectors."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table; what is indexed already gets its codes when it is encoded again."""
    op.create_table(
        "token_codes",
        sa.Column(
            "embedding_id",
            sa.Integer,
            sa.ForeignKey("embeddings.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("code", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("token_codes")
