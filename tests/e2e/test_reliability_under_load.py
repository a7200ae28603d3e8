"""Load, throttling, broken connections and a kill at once: one answer for every mention."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability import Trial, try_out


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    "trial",
    [
        # In Socket Mode Slack has nobody to send to while the only process is down.
        Trial("socket", 40, 10, 2.0, processes=2, module=("tests.e2e.scripted_serve",)),
        Trial(
            "http",
            40,
            10,
            2.0,
            processes=1,
            module=("tests.e2e.scripted_serve",),
            retry_after_s=(0.0, 5.0, 15.0),
        ),
    ],
    ids=["socket mode, one of two processes killed", "http mode, the only process killed"],
)
async def test_every_mention_gets_one_answer(trial: Trial, tmp_path: Path) -> None:
    environment = {
        "DATABASE_URL": f"sqlite:///{tmp_path / 'manuel.db'}",
        "EMBEDDING_MODEL": "none",
        "REINDEX_CRON": "",
        "JOB_LEASE_S": "1",
    }
    figures = await try_out(trial, environment, ["le télétravail ?"], patience_s=90)

    assert figures.replies == [1] * 40
    assert figures.not_answers == 0
    assert figures.throttled > 0
