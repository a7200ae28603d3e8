"""What the serving process holds in memory: one index and one encoder for all it does."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command

import bot.app
from bot.app import open_engine_room
from bot.records import GroundedAnswer, Question
from bot.settings import BotSettings
from bot.store import opened
from ingest import PUBLIC, IndexNotBuiltError, open_reader, run_ingest
from tests.fakes import FakeEmbedder


@pytest.fixture
def config(tmp_path: Path) -> BotSettings:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "conges.md").write_text(
        "# Congés\n\nUn mariage donne droit à quatre jours ouvrés de congé.\n", encoding="utf-8"
    )
    return BotSettings(
        _env_file=None,
        database_url=f"sqlite:///{tmp_path / 'manuel.db'}",
        handbook_config=tmp_path / "absent.toml",
    )


def test_answering_and_searching_share_one_encoder_and_one_index(
    config: BotSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_ingest(config, specs=[f"folder:{tmp_path / 'pages'}"])
    opened = []
    for name in ("open_embedder", "open_reader"):
        real = getattr(bot.app, name)
        monkeypatch.setattr(
            bot.app, name, lambda settings, n=name, real=real: opened.append(n) or real(settings)
        )

    room = open_engine_room(config)
    try:
        outcome = room.answer(Question("Combien de jours de congé pour un mariage ?"), PUBLIC)
        found = room.search(Question("mariage"), 3)
    finally:
        room.close()

    assert isinstance(outcome, GroundedAnswer)
    assert "quatre jours" in outcome.text
    assert [result.passage.chunk.page for result in found.results] == ["conges.md"]
    assert sorted(opened) == ["open_embedder", "open_reader"]


def test_without_an_index_the_engine_room_says_so(config: BotSettings) -> None:
    with pytest.raises(IndexNotBuiltError):
        open_engine_room(config)


def test_a_warm_engine_room_has_read_its_vectors_and_loaded_its_encoder(
    config: BotSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_ingest(config, specs=[f"folder:{tmp_path / 'pages'}"])
    with open_reader(config) as reader:
        embedder = FakeEmbedder(fingerprint=str(reader.active_fingerprint()), dimension=384)
    monkeypatch.setattr(bot.app, "open_embedder", lambda settings: embedder)
    with open_engine_room(config) as room:
        assert embedder.queries == []
        room.warm_up()
        assert len(embedder.queries) == 1


def test_an_encoder_that_is_down_stops_nobody_from_starting(
    config: BotSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_ingest(config, specs=[f"folder:{tmp_path / 'pages'}"])
    monkeypatch.setattr(bot.app, "open_embedder", lambda settings: FakeEmbedder(failing=True))
    with open_engine_room(config) as room:
        room.warm_up()
        assert room.search(Question("mariage"), 3).degraded


def test_tables_that_are_open_and_up_to_date_are_neither_opened_nor_migrated_again(
    config: BotSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_ingest(config, specs=[f"folder:{tmp_path / 'pages'}"])
    model = {"answer_model": "m", "openai_base_url": "http://127.0.0.1:9/v1"}
    values = config.model_copy(update=model | {"embedding_model": "none"})
    with opened(values.database_url) as engine:
        migrations = []
        monkeypatch.setattr(command, "upgrade", lambda *_: migrations.append("upgrade"))
        open_engine_room(values, engine=engine).close()
        assert migrations == []
        open_engine_room(values).close()
        assert migrations == ["upgrade"]
