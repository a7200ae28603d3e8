"""Which of Slack's events are questions to us."""

from typing import Any

import pytest

from bot.slack.incoming import question_in
from bot.store import NewJob


def body(**changes: Any) -> dict[str, Any]:
    event = {
        "type": "app_mention",
        "user": "U1",
        "text": "<@UBOT> combien de jours ?",
        "ts": "1796000000.000100",
        "channel": "C1",
        **changes,
    }
    return {"team_id": "T1", "event_id": "Ev1", "event": event}


def test_a_mention_becomes_a_question_to_answer_under_it() -> None:
    assert question_in(body(), "UBOT") == NewJob(
        event_id="Ev1",
        team_id="T1",
        channel_id="C1",
        message_ts="1796000000.000100",
        thread_ts="1796000000.000100",
        user_id="U1",
        question="combien de jours ?",
    )


def test_in_a_thread_the_answer_goes_under_its_root() -> None:
    question = question_in(body(thread_ts="1795000000.000100"), "UBOT")

    assert question is not None
    assert question.thread_ts == "1795000000.000100"
    assert question.message_ts == "1796000000.000100"


@pytest.mark.parametrize("subtype", ["file_share", "thread_broadcast"])
def test_people_also_write_with_files_and_to_the_channel(subtype: str) -> None:
    assert question_in(body(subtype=subtype), "UBOT") is not None


@pytest.mark.parametrize("text", ["<@UBOT>", "  ", None])
def test_calling_us_without_a_word_is_a_question_without_text(text: str | None) -> None:
    question = question_in(body(text=text), "UBOT")

    assert question is not None
    assert question.question == ""


@pytest.mark.parametrize(
    "changes",
    [
        {"bot_id": "B9"},
        {"edited": {"user": "U1", "ts": "1796000001.000000"}},
        {"hidden": True},
        {"subtype": "message_changed"},
        {"subtype": "message_deleted"},
        {"subtype": "bot_message"},
        {"subtype": "channel_join"},
        {"user": "UBOT"},
        {"user": None},
    ],
)
def test_everything_else_is_not_a_question(changes: dict[str, Any]) -> None:
    assert question_in(body(**changes), "UBOT") is None
