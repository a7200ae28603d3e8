"""A database of an earlier version is brought up to date with everything that is in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Engine, MetaData, insert

from bot.store import (
    ANSWER,
    FeedbackStore,
    JobStore,
    PrivateAnswers,
    QuestionLog,
    migrate,
    open_engine,
)
from bot.store.migrate import VERSION_TABLE
from bot.store.tables import metadata

JOB = {
    "job_id": "j1",
    "event_id": "Ev1",
    "team_id": "T1",
    "channel_id": "C1",
    "message_ts": "1.0",
    "thread_ts": "1.0",
    "user_id": "U1",
    "question": "combien ?",
    "state": "pending",
    "attempts": 0,
    "deliveries": 0,
    "uncertain": False,
    "due_at": 1.0,
    "created_at": 1.0,
}
QUESTION = {
    "question_id": "q1",
    "team_id": "T1",
    "channel_id": "C1",
    "user_id": "U1",
    "question": "combien ?",
    "outcome": "answer",
    "generator": "extractive",
    "language": "fr",
    "confidence": 0.9,
    "passages": "[]",
    "asked_at": 1.0,
}
FEEDBACK = {
    "question_id": "q1",
    "user_id": "U1",
    "team_id": "T1",
    "verdict": "down",
    "reasons": '["wrong"]',
    "comment": "non",
    "given_at": 2.0,
}
PRIVATE = {
    "answer_id": "a1",
    "team_id": "T1",
    "user_id": "U1",
    "chunk_ids": "[]",
    "message": "{}",
    "created_at": 4e9,
    "shared": False,
}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_engine(f"sqlite:///{tmp_path / 'manuel.db'}")
    yield engine
    engine.dispose()


def test_what_the_first_release_kept_survives(engine: Engine) -> None:
    at_revision(engine, "0003")
    fill(engine, bot_jobs=JOB, bot_questions=QUESTION)
    fill(engine, bot_feedback=FEEDBACK, bot_private_answers=PRIVATE)

    migrate(engine)

    asked = QuestionLog(engine, keep_days=90).get("q1", team_id="T1")
    assert asked is not None
    assert asked.question == "combien ?"
    [given] = FeedbackStore(engine).export()
    assert (given["comment"], given["question"]) == ("non", "combien ?")
    assert PrivateAnswers(engine).get("a1") is not None
    job = JobStore(engine).claim(ANSWER)
    assert job is not None
    assert (job.question, job.in_shared_channel) == ("combien ?", False)


def test_migrated_tables_are_those_that_the_code_describes(engine: Engine) -> None:
    at_revision(engine, "0003")
    migrate(engine)

    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": VERSION_TABLE, "include_name": is_ours}
        )
        assert compare_metadata(context, metadata) == []


def is_ours(name: str | None, kind: str, _parents: object) -> bool:
    return kind != "table" or name in metadata.tables


def at_revision(engine: Engine, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", "bot.store:migrations")
    config.set_main_option("path_separator", "os")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def fill(engine: Engine, **rows: dict[str, object]) -> None:
    found = MetaData()
    found.reflect(engine)
    with engine.begin() as connection:
        for name, row in rows.items():
            connection.execute(insert(found.tables[name]).values(row))
