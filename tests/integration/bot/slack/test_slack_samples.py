"""Slack's own sample payloads: which of them ask us something."""

import json
from pathlib import Path

import pytest

from bot.slack.incoming import question_in

ASKING = {
    "app_mention.in_thread.json": "how do I book leave?",
    "app_mention.json": "Hi there!",
    "message.im_agent_view_first.json": "How many days of leave do I get?",
    "message.im_agent_view_reply_in_thread.json": "And for part-timers?",
    "message.im_in_thread.json": "When Slack was released?",
    "message.im_in_thread_with_action_token.json": "When Slack was released?",
}
NOT_ASKING = [
    "app_mention.edited.json",
    "app_mention.from_other_bot.json",
    "message.bot_own_or_other_app.json",
    "message.subtype_bot_message_classic.json",
    "message_changed.channel.json",
    "message_changed.im_thread_root.json",
    "message_changed.json",
    "message_deleted.json",
]


@pytest.mark.parametrize("name", [*ASKING, *NOT_ASKING])
def test_a_sample_is_understood(shared_dir: Path, name: str) -> None:
    body = json.loads((shared_dir / "slack-payloads" / "events" / name).read_text("utf-8"))

    question = question_in(body, "U111")

    assert (question.question if question else None) == ASKING.get(name)
