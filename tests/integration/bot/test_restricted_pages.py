"""What stands on a restricted page never reaches somebody outside its audience, by any way."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

import bot.app
import ingest.app
from bot.app import EngineRoom, open_engine_room
from bot.cli import app
from bot.records import Abstention, Question
from bot.serialization import outcome_to_json, search_to_json
from bot.settings import BotSettings
from ingest import PUBLIC, run_command_line
from ingest.app import run_ingest
from tests.fakes import FakeEmbedder

SECRET = "Zorglub"
RH = PUBLIC | {"rh"}
QUESTIONS = [
    "Quel est le montant de la prime Zorglub ?",
    "prime Zorglub",
    "Zorgluv",  # misspelt: a correction would tell the word
    "Combien touche un directeur en prime ?",
    "Quelle est la prime de fin d'année ?",
]


@pytest.fixture(params=["keywords", "vectors"])
def settings(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> BotSettings:
    pages = tmp_path / "pages"
    (pages / "direction").mkdir(parents=True)
    public = "# Primes\n\nLa prime de fin d'année est versée en décembre à tous les salariés.\n"
    (pages / "primes.md").write_text(public, encoding="utf-8")
    for number in range(5):
        text = f"# Page {number}\n\nLa page {number} parle des horaires et du télétravail.\n"
        (pages / f"page-{number}.md").write_text(text, encoding="utf-8")
    secret = f"# Prime {SECRET}\n\nLa prime {SECRET} des directeurs est de 12 345 euros.\n"
    (pages / "rh.md").write_text(f"---\naudience: rh\n---\n{secret}", encoding="utf-8")
    (pages / "direction" / "a.md").write_text(secret, encoding="utf-8")
    (pages / "unclear.md").write_text(f"---\naudience:\n---\n{secret}", encoding="utf-8")
    (tmp_path / "handbook.toml").write_text(
        '[[sources]]\nname = "h"\npath = "pages"\npath_audiences = { "direction/" = "rh" }\n'
        'url = "https://example.com/{path}"\n',
        encoding="utf-8",
    )
    if request.param == "vectors":
        for module in (ingest.app, bot.app):
            monkeypatch.setattr(module, "open_embedder", lambda settings: FakeEmbedder())
    made = BotSettings(
        _env_file=None,
        database_url=f"sqlite:///{tmp_path / 'manuel.db'}",
        handbook_config=tmp_path / "handbook.toml",
        embedding_model="none",
    )
    run_ingest(made)
    return made


@pytest.fixture
def room(settings: BotSettings) -> Iterator[EngineRoom]:
    with open_engine_room(settings) as room:
        yield room


def shown_to(room: EngineRoom, text: str, audiences: frozenset[str]) -> str:
    """Everything that answering, searching and explaining tell."""
    question = Question(text)
    outcome = room.answer(question, audiences)
    told = [
        json.dumps(outcome_to_json(None, question, outcome), ensure_ascii=False),
        repr(outcome),
        json.dumps(search_to_json(room.search(question, 10, audiences)), ensure_ascii=False),
        repr(asdict(room.explain(question, audiences))),
    ]
    return "\n".join(told)


@pytest.mark.parametrize("text", QUESTIONS)
def test_nothing_of_it_is_shown_to_others(room, text, caplog):
    caplog.set_level(logging.DEBUG)

    shown = (shown_to(room, text, PUBLIC) + caplog.text).lower()

    words = {"zorglub", "directeurs", "12 345", "12345", "rh.md", "direction/a.md", "unclear.md"}
    asked = {word for word in words if word in text.lower()}
    assert {word for word in words - asked if word in shown} == set()


def test_a_word_of_restricted_pages_is_explained_to_others_as_one_that_stands_nowhere(room):
    question = Question("prime Zorglub Xyzzyq")

    prime, secret, nowhere = room.explain(question, PUBLIC).words
    assert (prime.known, secret.known, nowhere.known) == (True, False, False)
    assert secret.idf == nowhere.idf

    assert room.explain(question, RH).words[1].known


@pytest.mark.parametrize("text", QUESTIONS[:2])
def test_whoever_belongs_to_the_audience_reads_it(room, text):
    shown = shown_to(room, text, RH)

    for word in ("12 345", "directeurs", "rh.md", "direction/a.md"):
        assert word in shown
    assert "unclear.md" not in shown


def test_others_get_an_abstention_or_what_they_may_read(room):
    outcome = room.answer(Question(QUESTIONS[0]), PUBLIC)

    assert isinstance(outcome, Abstention)


def test_an_unclear_audience_is_nobody(room):
    everyone = frozenset({"everyone", "rh", "", "unclear"})

    found = room.search(Question("prime Zorglub"), 10, everyone)

    assert "unclear.md" not in {result.passage.chunk.page for result in found.results}
    assert "rh.md" in {result.passage.chunk.page for result in found.results}


def test_chunks_known_by_id_are_checked_again(room):
    found = room.search(Question("prime Zorglub"), 10, RH)
    ids = [r.passage.chunk.chunk_id for r in found.results if r.passage.chunk.page == "rh.md"]

    assert ids
    assert room.chunks(ids, PUBLIC) == []
    assert not room.may_read(ids, PUBLIC)
    assert room.may_read(ids, RH)


def test_the_command_line_reads_as_everybody_unless_told(settings, capsys, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", settings.database_url)
    monkeypatch.setenv("HANDBOOK_CONFIG", str(settings.handbook_config))
    monkeypatch.setenv("EMBEDDING_MODEL", "none")

    assert run_command_line(app, ["search", "prime", "--json"], name="manuel") == 0
    assert SECRET not in capsys.readouterr().out
    arguments = ["search", "prime", "--json", "--audience", "rh"]
    assert run_command_line(app, arguments, name="manuel") == 0
    assert SECRET in capsys.readouterr().out
