"""An explanation keeps to Slack's limits and shows everything as it is, whatever pages say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.answering.explanation import (
    ExplainedAttempt,
    ExplainedPassage,
    ExplainedWord,
    Explanation,
    WeighedSignal,
)
from bot.answering.support import Support
from bot.records import Abstention, AbstentionReason, Question
from bot.sandbox.blocks import Surface, block_problems
from bot.slack.admin.explain import MessageLink
from bot.slack.admin.explain_view import render_explanation
from bot.slack.wording import ENGLISH, FRENCH, Words
from bot.store import AskedQuestion
from tests.outcomes import abstention, answer, passage

NASTY = "<!channel> & <@U1|x> \x00\u202e" + "x" * 5_000
ASKED = AskedQuestion(
    question_id="q1",
    channel_id="C1",
    thread_ts=None,
    message_ts="1.000000",
    user_id="U1",
    question=NASTY,
    outcome="abstention",
    generator="extractive",
    confidence=0.1,
    asked_at=datetime(2026, 11, 30, 9, 0, tzinfo=UTC),
)


def explanation(count: int, *, nasty: str = NASTY) -> Explanation:
    """`count` of everything."""
    found = replace(
        passage(nasty, title=nasty), signals={"cosine": 0.8, "first_stage": 0.5}, legs={"vector": 1}
    )
    attempt = ExplainedAttempt(
        generator=nasty,
        passed=(nasty,) * count,
        refused=((nasty, nasty),) * count,
        support=Support.NONE,
        probability=0.12,
        threshold=0.5,
        reasons=(nasty,) * min(count, 3),
        signals=tuple(WeighedSignal(f"signal{n}", 0.5, 2.0) for n in range(min(count, 20))),
        degraded=None,
    )
    return Explanation(
        question=Question(nasty),
        text=f"{nasty} {nasty}",
        language="fr",
        words=tuple(ExplainedWord(nasty[:90], 2.0, n % 2 == 0, ("tt",)) for n in range(count)),
        passages=tuple(ExplainedPassage(found, {nasty: 1.5}) for _ in range(count)),
        attempts=(attempt,) * count,
        outcome=abstention(),
    )


@pytest.mark.parametrize("words", [FRENCH, ENGLISH])
@pytest.mark.parametrize("count", [0, 1, 8, 9, 60])
def test_any_amount_of_anything_fits_and_nothing_is_live(words: Words, count: int) -> None:
    message = render_explanation(ASKED, explanation(count), words)

    assert block_problems(list(message.blocks), Surface.MESSAGE) == []
    assert len(message.text) <= 40_000
    assert "<" not in message.text
    assert {block["type"] for block in message.blocks} == {"rich_text"}


@pytest.mark.parametrize("reason", list(AbstentionReason))
def test_every_reason_to_abstain_has_words(reason: AbstentionReason) -> None:
    abstained = replace(abstention(), reason=reason)
    assert isinstance(abstained, Abstention)
    said = [
        render_explanation(ASKED, replace(explanation(0), outcome=abstained), words).text
        for words in (FRENCH, ENGLISH)
    ]

    assert said[0] != said[1]


def test_figures_stand_beside_each_passage() -> None:
    shown = render_explanation(ASKED, explanation(1, nasty="RTT"), ENGLISH).text

    assert "rank by words: –, rank by meaning: 1, closeness: 0.800, first stage: 0.500" in shown
    assert "second stage: 1.000" in shown
    assert "the words gave: RTT 1.5" in shown
    assert "Last check: 0.12, threshold 0.50." in shown
    assert "signal0 0.50 × 2.0" in shown


def test_an_answer_is_called_one() -> None:
    answered = replace(explanation(1, nasty="RTT"), outcome=answer())
    shown = render_explanation(replace(ASKED, outcome="answer"), answered, FRENCH).text

    assert shown.count(f"{FRENCH.explain_answer}, confiance") == 2
    assert "je ne sais pas" not in shown


@pytest.mark.parametrize(
    ("text", "link"),
    [
        (
            "https://exemple.slack.com/archives/C0AB/p1796036042608019",
            MessageLink("C0AB", "1796036042.608019"),
        ),
        (
            "voir https://ex-1.slack.com/archives/C0AB/p1796036042608019?thread_ts=1796036000.000100"
            "&cid=C0AB svp",
            MessageLink("C0AB", "1796036042.608019", "1796036000.000100"),
        ),
        (
            "https://exemple.slack.com/archives/D0AB/p1796036042608019?cid=D0AB&thread_ts=1.2",
            MessageLink("D0AB", "1796036042.608019", "1.2"),
        ),
        ("https://exemple.slack.com/archives/C0AB", None),
        ("http://exemple.slack.com/archives/C0AB/p1796036042608019", None),
        ("", None),
    ],
)
def test_the_link_to_a_message_is_read(text: str, link: MessageLink | None) -> None:
    assert MessageLink.find(text) == link
