"""Messages on the way to those in charge of the handbook and back. Pure.

What people wrote stands in `rich_text`, where nothing of it is live; who wrote it is named by id.
"""

from __future__ import annotations

from bot.slack.mrkdwn import clean, escape, safe_url, shortened
from bot.slack.next_steps import HumanRequest
from bot.slack.rendering import Block, Message, button
from bot.slack.wording import Words

GIVE_ANSWER = "human_give_answer"
QUESTION_LIMIT = 2_000
ANSWER_LIMIT = 6_000
"""Ours: people's answers are rarely longer, and far from what a message takes."""


def render_request(
    request: HumanRequest, requester_id: str, link: str | None, words: Words
) -> Message:
    """Render a question for the owners' channel.

    Args:
        request: What is passed on.
        requester_id: Who wants an answer.
        link: Address of the conversation, if the owners can open it.
        words: Of whoever wants the answer.
    """
    question = _quoted(request.question, QUESTION_LIMIT)
    elements = [_said_by(requester_id, words.human_asks), question]
    if url := safe_url(link):
        see = {"type": "link", "url": url, "text": words.human_see}
        elements.append({"type": "rich_text_section", "elements": [see]})
    how = {"type": "plain_text", "text": words.human_how, "emoji": True}
    answer = button(words.human_answer, GIVE_ANSWER, request.question_id, style="primary")
    spoken = [words.human_asks, _text(question), link if url else "", words.human_how]
    return Message(
        f"<@{requester_id}> " + escape("\n".join(filter(None, spoken))),
        (
            {"type": "rich_text", "elements": elements},
            {"type": "context", "elements": [how]},
            {"type": "actions", "elements": [answer]},
        ),
    )


def render_relay(author_id: str, question: str, answer: str, words: Words) -> Message:
    """Render a human's answer for whoever waits for it; `question` may be "" when forgotten."""
    elements = [_said_by(author_id, words.human_answered)]
    if question:
        elements.append(_quoted(question, QUESTION_LIMIT))
    said = {"type": "text", "text": shortened(clean(answer), ANSWER_LIMIT)}
    elements.append({"type": "rich_text_section", "elements": [said]})
    spoken = [words.human_answered, _text(elements[1]) if question else "", said["text"]]
    return Message(
        f"<@{author_id}> " + escape("\n".join(filter(None, spoken))),
        ({"type": "rich_text", "elements": elements},),
    )


def render_note(author_id: str, answer: str, words: Words) -> Message:
    """Render, for the others in the owners' channel, what somebody answered."""
    quoted = _quoted(answer, ANSWER_LIMIT)
    elements = [_said_by(author_id, words.human_noted), quoted]
    return Message(
        f"<@{author_id}> " + escape(f"{words.human_noted}\n{_text(quoted)}"),
        ({"type": "rich_text", "elements": elements},),
    )


def _said_by(user_id: str, sentence: str) -> Block:
    person = {"type": "user", "user_id": user_id}
    return {
        "type": "rich_text_section",
        "elements": [person, {"type": "text", "text": f" {sentence}"}],
    }


def _quoted(text: str, limit: int) -> Block:
    said = shortened(clean(text), limit) or "…"  # Slack refuses empty text
    return {"type": "rich_text_quote", "elements": [{"type": "text", "text": said}]}


def _text(section: Block) -> str:
    return "".join(element["text"] for element in section["elements"])
