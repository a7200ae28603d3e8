"""First schema: pages, chunks, embeddings, runs, leases and the keyword index."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create everything."""
    op.create_table(
        "embedding_models",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("fingerprint", sa.Text, nullable=False, unique=True),
        sa.Column("dimension", sa.Integer, nullable=False),
    )
    op.create_table(
        "index_state",
        sa.Column("id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("active_model_id", sa.Integer, sa.ForeignKey("embedding_models.id")),
        sa.Column("analysis", sa.Text, nullable=False),
    )
    _create_pages()
    _create_chunks()
    op.create_table(
        "embeddings",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "model_id",
            sa.Integer,
            sa.ForeignKey("embedding_models.id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("text_hash", sa.Text, nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
        sa.Column("last_used_at", sa.DateTime, nullable=False),
        sa.UniqueConstraint("text_hash", "model_id", name="uq_embeddings_text_model"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("started_at", sa.DateTime, nullable=False),
        sa.Column("finished_at", sa.DateTime, nullable=False),
        sa.Column("complete", sa.Boolean, nullable=False),
        sa.Column("report", sa.Text, nullable=False),
        sa.Index("ix_runs_source", "source"),
    )
    op.create_table(
        "leases",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("process", sa.Text, nullable=False),
        sa.Column("acquired_at", sa.DateTime, nullable=False),
        sa.Column("expires_at", sa.DateTime, nullable=False),
    )
    if op.get_bind().dialect.name == "sqlite":
        _create_fts5()
    op.execute("INSERT INTO index_state (id, generation, analysis) VALUES (1, 0, '')")


def downgrade() -> None:
    """The first schema has nothing before it."""
    raise NotImplementedError("drop the database and run `manuel ingest` instead")


def _create_pages() -> None:
    op.create_table(
        "pages",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("content_hash", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("source_version", sa.Text),
        sa.Column("url", sa.Text),
        sa.Column("modified_at", sa.DateTime),
        sa.Column("outdated", sa.Boolean, nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.UniqueConstraint("source", "path", name="uq_pages_source_path"),
        sa.Index("ix_pages_generation", "generation"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "page_audiences",
        sa.Column(
            "page_id", sa.Integer, sa.ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("audience", sa.Text, primary_key=True),
    )


def _create_chunks() -> None:
    op.create_table(
        "chunks",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("chunk_id", sa.Text, nullable=False),
        sa.Column(
            "page_id", sa.Integer, sa.ForeignKey("pages.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("heading_path", sa.JSON, nullable=False),
        sa.Column("anchor", sa.Text),
        sa.Column("start_offset", sa.Integer, nullable=False),
        sa.Column("end_offset", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("context", sa.Text, nullable=False),
        sa.Column("units", sa.JSON, nullable=False),
        sa.Column("text_hash", sa.Text, nullable=False),
        sa.UniqueConstraint("chunk_id", name="uq_chunks_chunk_id"),
        sa.Index("ix_chunks_page_id", "page_id"),
        sa.Index("ix_chunks_text_hash", "text_hash"),
        sqlite_autoincrement=True,
    )


def _create_fts5() -> None:
    # The columns receive tokens that are already analysed, so the tokenizer only has to split at
    # spaces: `ascii` keeps every character above 127, whatever its script; the listed ones occur in
    # "3.80", "c++" and "c#".
    op.execute(
        "CREATE VIRTUAL TABLE chunk_terms USING fts5("
        "title, headings, body, stems, tokenize = \"ascii tokenchars '.+#'\")"
    )
    op.execute("CREATE VIRTUAL TABLE chunk_vocabulary USING fts5vocab(chunk_terms, 'row')")
