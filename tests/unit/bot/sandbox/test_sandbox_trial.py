"""What `manuel sandbox` gives the app: an index of its own, and nothing of a real workspace."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli import app
from bot.sandbox.server import SandboxServer
from bot.sandbox.trial import OF_A_REAL_WORKSPACE, _config, furnish, own_settings
from bot.settings import BotSettings
from ingest import load_config


def test_settings_of_a_real_workspace_and_its_index_do_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    (tmp_path / ".env").write_text("ADMIN_USERS=U1\nSLACK_CLIENT_ID=1.2\nSLACK_MODE=http\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", "sqlite:///real.db")
    monkeypatch.setenv("OWNERS_CHANNEL", "C123")
    monkeypatch.setenv("ANSWER_MODEL", "mine")
    for name, value in own_settings(tmp_path / "own.db", tmp_path / "own.toml").items():
        monkeypatch.setenv(name, value)
    settings = BotSettings()
    assert settings.database_url == f"sqlite:///{tmp_path / 'own.db'}"
    assert settings.slack_mode == "socket"
    for name in OF_A_REAL_WORKSPACE:
        field = name.lower()
        assert getattr(settings, field) == BotSettings.model_fields[field].default
    assert settings.answer_model == "mine"


@pytest.mark.parametrize("name", ["guide", 'un "guide"\\é', "a:b", "😀"])
def test_any_folder_becomes_a_configured_source(tmp_path: Path, name: str):
    pages = tmp_path / name
    pages.mkdir()
    file = tmp_path / "handbook.toml"
    file.write_text(_config(pages), encoding="utf-8")
    assert tomllib.loads(file.read_text(encoding="utf-8"))["sources"][0]["path"] == str(pages)
    [source] = load_config(BotSettings(_env_file=None, handbook_config=file)).sources
    assert source.path == pages


def test_source_must_be_a_folder_that_exists(tmp_path: Path):
    for source in (f"folder:{tmp_path / 'absent'}", str(tmp_path)):
        done = CliRunner().invoke(app, ["sandbox", "--source", source])
        assert done.exit_code != 0
        assert "folder:PATH" in str(done.exception)


async def test_people_differ_in_role_and_language_and_owners_have_their_channel():
    async with SandboxServer() as sandbox:
        owners = furnish(sandbox)
        people = [u for u in sandbox.workspace().users.values() if u.bot is None]
        assert {u.role.value for u in people} == {"member", "owner", "admin", "guest"}
        assert {u.locale[:2] for u in people} == {"fr", "en"}
        assert sandbox.bot_id in sandbox.workspace().channel(owners).members
