"""The pretend model writes what is given to it, and one thing that is not."""

from __future__ import annotations

import json
from typing import Any

from bot.answering.packing import Evidence
from bot.answering.prompt import build_messages
from bot.records import Question
from bot.sandbox.pretend_model import INVENTED, reply
from tests.outcomes import passage

TEXT = "Le badge visiteur est remis à l'accueil. Les vélos se garent dans la cour intérieure."


def asked(question: str, text: str = TEXT) -> dict[str, Any]:
    evidence = [Evidence("p1", passage(), text)]
    written: dict[str, Any] = json.loads(
        reply(build_messages(Question(question), question, evidence))
    )
    return written


def test_sentence_about_the_question_is_quoted_word_for_word_and_one_is_invented():
    written = asked("Où est remis le badge visiteur ?")
    quoted, invented, *_ = written["claims"]
    assert written["language"] == "fr"
    assert quoted["sentence"] == quoted["quote"] == "Le badge visiteur est remis à l'accueil."
    assert quoted["passage_id"] == "p1"
    assert invented["sentence"] == INVENTED["fr"]
    assert invented["sentence"] not in TEXT


def test_evidence_in_english_is_answered_in_english():
    text = "Visitors get a badge at the front desk. Bicycles are parked in the yard."
    assert asked("Where do visitors get a badge?", text)["language"] == "en"


def test_nothing_is_claimed_of_what_the_evidence_does_not_mention():
    assert asked("Quelle mutuelle ?")["claims"] == []


def test_request_without_evidence_gets_a_word():
    assert reply([{"role": "user", "content": "Reply with the word ok."}]) == "ok"
