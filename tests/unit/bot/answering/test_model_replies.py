"""What models really send back, and what is made of it."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.answering.replies import MAX_CLAIMS, ReplyClaim, UnusableReply, parse_reply

CLAIM = {"sentence": "Deux jours.", "passage_id": "p1", "quote": "deux jours"}
GOOD = json.dumps({"language": "fr", "claims": [CLAIM]})
EXPECTED = (ReplyClaim("Deux jours.", "p1", "deux jours"),)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"Here is the answer:\n```json\n{GOOD}\n```\nHope it helps!",
        f'<think>{{"claims": [{{"sentence": "wrong"}}]}}</think>{GOOD}',
        f'I could say {{"claims": []}} but better: {GOOD}',
        json.dumps({"name": "answer", "arguments": GOOD}),
        json.dumps({"name": "answer", "parameters": json.loads(GOOD)}),
        GOOD.replace("Deux jours.", "Deux jours.\n"),
    ],
    ids=["plain", "fenced", "thinking", "drafted", "call as text", "call as object", "raw newline"],
)
def test_claims_are_found_whatever_stands_round_them(text):
    assert parse_reply(text).claims == EXPECTED


def test_an_empty_list_of_claims_is_a_usable_reply():
    assert parse_reply('{"language": "en", "claims": []}').claims == ()


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "   ",
        "Deux jours par semaine.",
        "[1, 2]",
        '{"answer": "deux jours"}',
        '{"claims": "deux jours"}',
        '{"claims": [{"sentence": "no quote", "passage_id": "p1"}]}',
        '{"claims": [["a", "b"]]}',
        "<think>" + GOOD,
        GOOD[:-20],
        "{" * 5_000,
    ],
)
def test_a_reply_without_well_formed_claims_is_unusable(text):
    with pytest.raises(UnusableReply):
        parse_reply(text)


def test_only_the_first_claims_of_a_flood_are_looked_at():
    flood = json.dumps({"language": "fr", "claims": [CLAIM] * 10_000})
    assert len(parse_reply(flood).claims) == MAX_CLAIMS


@given(st.text())
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(UnusableReply):
        assert isinstance(parse_reply(text).claims, tuple)
