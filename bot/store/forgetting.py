"""Deletes what is kept of one person."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sqlalchemy import Engine, Table, case, delete, func, select, update

from bot.store.jobs import JobState
from bot.store.tables import (
    citations,
    feedback,
    jobs,
    metadata,
    private_answers,
    questions,
    stale_answers,
    uploads,
)
from bot.store.transactions import transaction


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How much was kept of somebody."""

    questions: int
    feedback: int
    private_answers: int
    jobs: int


def forget_user(engine: Engine, user_id: str) -> Forgotten:
    """Delete a person's questions, feedback and private answers; what they wait for is dropped.

    Ended jobs stay without the person's id: they recognise events that Slack sends again. Those
    that were only to write to the person go.

    Raises:
        JobStoreError: If the database cannot be used now; then nothing is deleted.
    """
    ended = jobs.c.finished_at.is_not(None)
    anonymous = {
        "user_id": "",
        "question": None,
        "message": None,
        "owner": None,
        "lease_until": None,
        "state": case((ended, jobs.c.state), else_=JobState.FAILED.value),
        "failure": case((ended, jobs.c.failure), else_="forgotten"),
        "finished_at": func.coalesce(jobs.c.finished_at, time.time()),
    }
    of_them = update(jobs).where(jobs.c.user_id == user_id).values(anonymous)
    with transaction(engine) as connection:

        def deleted(table: Table) -> int:
            return connection.execute(delete(table).where(table.c.user_id == user_id)).rowcount

        theirs = select(questions.c.question_id).where(questions.c.user_id == user_id)
        for table in (citations, stale_answers):
            connection.execute(delete(table).where(table.c.question_id.in_(theirs)))
        deleted(uploads)  # what they sent stays a page of the handbook
        to_them = delete(jobs).where(jobs.c.channel_id == user_id)
        messages = connection.execute(to_them).rowcount
        return Forgotten(
            questions=deleted(questions),
            feedback=deleted(feedback),
            private_answers=deleted(private_answers),
            jobs=messages + connection.execute(of_them).rowcount,
        )


def forget_workspace(engine: Engine, team_id: str) -> int:
    """Delete everything that is kept of a workspace.

    Returns:
        How many rows there were.

    Raises:
        JobStoreError: If the database cannot be used now; then nothing is deleted.
    """
    of_workspaces = [table for table in metadata.sorted_tables if "team_id" in table.c]
    with transaction(engine) as connection:
        return sum(
            connection.execute(delete(table).where(table.c.team_id == team_id)).rowcount
            for table in reversed(of_workspaces)
        )
