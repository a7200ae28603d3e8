"""A model on a real index: it rewrites follow-ups and translates quotes, each checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.answering.explanation import explanation_to_json
from bot.answering.rewriting import Rewriting
from bot.app import EngineRoom, open_engine_room
from bot.grounding.verifier import Verification
from bot.records import GroundedAnswer, Question, Translation
from bot.settings import BotSettings
from ingest import PUBLIC, run_ingest
from tests.scripted_server import Scripted, ScriptedServer, scripted_server

PAGES = {
    "conges.md": "# Congés\n\n## Mariage\n\nUn mariage donne droit à quatre jours de congé.\n\n"
    "## PACS\n\nUn PACS donne droit à cinq jours de congé.\n",
    "badge.md": "# Badge\n\nLe badge de Halvenne est remis à l'accueil et coûte 20 €.\n",
}
FIRST = "Combien de jours de congé pour un mariage ?"
FULL = "Combien de jours de congé pour un PACS ?"
BADGE = "Le badge de Halvenne est remis à l'accueil et coûte 20 €."


class Model:
    """Plays a chat model: answers each kind of request by what it holds."""

    def __init__(self) -> None:
        self.rewriting = FULL
        self.translation = "The Halvenne badge is handed out at the reception and costs 20 €."
        self.kinds: list[str] = []

    def __call__(self, body: dict[str, Any]) -> Scripted:
        wanted = body["response_format"]["json_schema"]["schema"]["properties"]
        kind = next(name for name in ("question", "translations", "claims") if name in wanted)
        self.kinds.append(kind)
        reply: dict[str, object] = {kind: self.rewriting}
        if kind == "translations":
            reply = {kind: [self.translation]}
        if kind == "claims":
            reply = {"language": "fr", kind: self.claims(body["messages"][1]["content"])}
        message = {"role": "assistant", "content": json.dumps(reply)}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return Scripted(body={"id": "1", "object": "chat.completion", "choices": [choice]})

    def claims(self, prompt: str) -> list[dict[str, str]]:
        for quote in ("Un PACS donne droit à cinq jours de congé.", BADGE):
            asked = prompt.rpartition("Question:")[2]
            if quote.split()[1].lower() in asked.lower() and quote in prompt:
                evidence = re.findall(r'"evidence_id": "(\w+)"', prompt[: prompt.index(quote)])
                return [{"sentence": quote, "passage_id": evidence[-1], "quote": quote}]
        return []


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> BotSettings:
    root = tmp_path_factory.mktemp("handbook")
    (root / "pages").mkdir()
    for name, text in PAGES.items():
        (root / "pages" / name).write_text(text, encoding="utf-8")
    settings = BotSettings(
        _env_file=None,
        database_url=f"sqlite:///{root / 'manuel.db'}",
        handbook_config=Path("absent.toml"),
        answer_model="m",
    )
    run_ingest(settings, specs=(f"folder:{root / 'pages'}",))
    return settings


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model) -> Iterator[ScriptedServer]:
    with scripted_server(model) as scripted:
        yield scripted


@pytest.fixture
def verified() -> list[Verification]:
    return []


@pytest.fixture
def room(
    handbook: BotSettings, server: ScriptedServer, verified: list[Verification]
) -> Iterator[EngineRoom]:
    settings = handbook.model_copy(update={"openai_base_url": server.url})
    with open_engine_room(settings, on_verification=verified.append) as opened:
        yield opened


def test_a_follow_up_is_answered_and_explained_as_the_model_rewrote_it(
    room: EngineRoom, model: Model, verified: list[Verification]
):
    explanation = room.explain(Question("et pour un PACS ?", (FIRST,)), PUBLIC)
    assert model.kinds == ["question", "claims"]
    assert explanation.text == FULL
    assert explanation.rewriting == Rewriting("m", FULL)
    assert explanation_to_json(explanation)["rewriting"] == {
        "model": "m", "text": FULL, "refused": None
    }  # fmt: skip
    assert isinstance(explanation.outcome, GroundedAnswer)
    assert "cinq jours" in explanation.outcome.text
    assert sum(len(verification.claims) for verification in verified) >= 2  # both drafts counted


def test_a_rewriting_that_brings_a_number_is_not_searched_for(room: EngineRoom, model: Model):
    model.rewriting = "Combien de jours de congé pour un PACS en 2031 ?"
    explanation = room.explain(Question("et pour un PACS ?", (FIRST,)), PUBLIC)
    assert explanation.text == f"{FIRST} et pour un PACS ?"
    assert explanation.rewriting is not None
    assert "2031" in str(explanation.rewriting.refused)


def test_a_quote_in_another_language_comes_with_its_translation(room: EngineRoom, model: Model):
    outcome = room.answer(Question("How much does the visitor badge of Halvenne cost?"), PUBLIC)
    assert isinstance(outcome, GroundedAnswer)
    assert outcome.claims[0].citation.quote == BADGE
    assert outcome.translations == {BADGE: Translation(model.translation, "m")}
    assert model.kinds == ["claims", "translations"]


def test_a_translation_with_another_price_is_not_shown(room: EngineRoom, model: Model):
    model.translation = model.translation.replace("20", "30")
    outcome = room.answer(Question("How much does the visitor badge of Halvenne cost?"), PUBLIC)
    assert isinstance(outcome, GroundedAnswer)
    assert outcome.translations == {}


def test_a_question_in_the_language_of_the_page_asks_for_nothing_more(
    room: EngineRoom, model: Model
):
    room.answer(Question("Combien coûte le badge de Halvenne ?"), PUBLIC)
    assert model.kinds == ["claims"]


def test_translations_can_be_switched_off(
    handbook: BotSettings, server: ScriptedServer, model: Model
):
    update = {"openai_base_url": server.url, "translate_quotes": False}
    with open_engine_room(handbook.model_copy(update=update)) as room:
        outcome = room.answer(Question("How much does the visitor badge of Halvenne cost?"), PUBLIC)
    assert isinstance(outcome, GroundedAnswer)
    assert model.kinds == ["claims"]
