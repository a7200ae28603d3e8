"""Settings as shells and .env files write them."""

from __future__ import annotations

import pytest

from bot.cli import load_settings
from ingest import ConfigurationError


def test_an_empty_secret_is_no_secret(monkeypatch):
    monkeypatch.setenv("SLACK_BOT_TOKEN", "")
    assert load_settings().slack_bot_token is None


def test_an_empty_schedule_means_never(monkeypatch):
    monkeypatch.setenv("REINDEX_CRON", "")
    assert load_settings().reindex_cron == ""


def test_every_wrong_setting_is_named_at_once(monkeypatch):
    monkeypatch.setenv("ANSWER_WORKERS", "many")
    monkeypatch.setenv("FUSION", "magic")
    with pytest.raises(
        ConfigurationError, match=r"(?s)FUSION.*ANSWER_WORKERS|ANSWER_WORKERS.*FUSION"
    ):
        load_settings()


def test_a_secret_is_not_shown(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    assert "sk-very-secret" not in repr(load_settings())
