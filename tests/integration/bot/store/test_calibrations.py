"""A fitted threshold counts only with the encoder and the weights it was fitted with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.answering.support_model import DEFAULT_MODEL
from bot.app import support_model
from bot.settings import BotSettings
from bot.store import Calibration, CalibrationStore, migrate, open_engine
from tests.fakes import FakeEmbedder


@pytest.fixture
def settings(tmp_path):
    return BotSettings(
        database_url=f"sqlite:///{tmp_path / 'bot.db'}",
        handbook_config=tmp_path / "absent.toml",
        embedding_model="bundled",
    )


@pytest.fixture
def store(settings):
    engine = open_engine(settings.database_url)
    migrate(engine)
    yield CalibrationStore(engine)
    engine.dispose()


FITTED = Calibration("bundled", DEFAULT_MODEL.version, 0.31, 40)


def test_a_database_the_bot_never_wrote_to_has_the_shipped_threshold(settings):
    assert support_model(settings, FakeEmbedder()) == DEFAULT_MODEL


def test_a_fitted_threshold_replaces_the_shipped_one_and_nothing_else(settings, store):
    store.save(FITTED)
    assert support_model(settings, FakeEmbedder()) == replace(DEFAULT_MODEL, answer_threshold=0.31)


def test_a_later_calibration_replaces_an_earlier_one(store):
    store.save(FITTED)
    store.save(replace(FITTED, threshold=0.4))
    found = store.find("bundled", DEFAULT_MODEL.version)
    assert found is not None
    assert found.threshold == 0.4


@pytest.mark.parametrize(
    "other", [replace(FITTED, support_model="older"), replace(FITTED, embedding_model="openai:x")]
)
def test_one_of_another_encoder_or_of_other_weights_is_not_used(settings, store, other):
    store.save(other)
    assert support_model(settings, FakeEmbedder()) == DEFAULT_MODEL


def test_a_threshold_fitted_without_a_reranker_is_not_used_with_one(settings, store):
    store.save(FITTED)
    reordered = settings.model_copy(update={"reranker_model": "some/cross-encoder"})
    assert support_model(reordered, FakeEmbedder()) == DEFAULT_MODEL
    store.save(replace(FITTED, embedding_model=reordered.ranking_models, threshold=0.4))
    assert support_model(reordered, FakeEmbedder()).answer_threshold == 0.4
    assert support_model(settings, FakeEmbedder()).answer_threshold == 0.31


def test_weights_change_the_version_and_thresholds_do_not():
    assert replace(DEFAULT_MODEL, answer_threshold=0.9).version == DEFAULT_MODEL.version
    assert replace(DEFAULT_MODEL, intercept=0.0).version != DEFAULT_MODEL.version
