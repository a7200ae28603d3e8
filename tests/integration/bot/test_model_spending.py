"""What admins are told of the model's cost, and what Prometheus counts of the gate."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.answering.breaker import LoggedIncidents
from bot.answering.usage import TokenUsage
from bot.grounding.verifier import Rule, verify
from bot.maintenance import Maintenance
from bot.metrics import Metrics
from bot.records import Draft, DraftClaim, Passage
from bot.settings import BotSettings
from bot.slack.admin.sync_reports import render_state
from bot.slack.wording import ENGLISH
from bot.store import ModelUsage, opened
from tests.fakes import stored_chunk

PRICES = '[prices."m-1"]\ninput = 2.0\noutput = 8.0\ncurrency = "EUR"\n'


def settings(folder: Path, *, model: str = "m-1", config: str = PRICES) -> BotSettings:
    (folder / "handbook.toml").write_text(config, encoding="utf-8")
    return BotSettings(
        _env_file=None,
        database_url=f"sqlite:///{folder / 'manuel.db'}",
        handbook_config=folder / "handbook.toml",
        answer_model=model,
        timezone="Europe/Paris",
    )


def spend(values: BotSettings, usage: TokenUsage) -> None:
    with opened(values.database_url) as engine:
        ModelUsage(
            engine,
            values.answer_model,
            daily_tokens=0,
            zone=ZoneInfo(values.timezone),
            incidents=LoggedIncidents(),
            now=lambda: datetime.now(UTC),
        ).count(usage)


def test_admins_see_what_the_model_has_cost_today(tmp_path: Path):
    values = settings(tmp_path)
    spend(values, TokenUsage(3, prompt=500_000, completion=250_000))
    state = render_state(Maintenance(values).state(), ENGLISH)
    assert "Model m-1, today: 750000 tokens, 3.00 EUR." in state.text


@pytest.mark.parametrize("given", [{"config": ""}, {"model": "other"}, {"model": ""}])
def test_nothing_is_said_of_costs_where_no_price_is_known(tmp_path: Path, given: dict[str, str]):
    values = settings(tmp_path, **given)
    state = Maintenance(values).state()
    assert state.spending is None
    assert "tokens" not in render_state(state, ENGLISH).text


def test_claims_are_counted_by_what_the_gate_said_and_no_word_of_them_is():
    passage = Passage(stored_chunk("c1", "Un mariage donne droit à quatre jours."), 1, 1.0)
    quote = "Un mariage donne droit à quatre jours."
    claims = (
        DraftClaim(quote, "c1", quote),
        DraftClaim("Un mariage donne droit à cinq jours.", "c1", quote),
        DraftClaim("Une naissance secrète.", "c9", quote),
    )
    metrics = Metrics()
    metrics.verified(verify(Draft(claims, "fr", 1.0), [passage]))
    shown = metrics.render().decode()
    assert 'manuel_gate_claims_total{decision="passed",rule=""} 1.0' in shown
    for rule in (Rule.FACTS, Rule.CITATION):
        assert f'manuel_gate_claims_total{{decision="refused",rule="{rule}"}} 1.0' in shown
    assert "secrète" not in shown
    assert "cinq" not in shown
