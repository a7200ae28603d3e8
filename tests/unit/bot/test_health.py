"""Health: what is wrong is named, looked for now and then, and never waited for too long."""

import asyncio

import pytest

from bot.observability import KEEP_S, Health


class Looked:
    """A probe that counts how often it was asked."""

    def __init__(self, finding: str = "") -> None:
        self.finding = finding
        self.times = 0

    async def __call__(self) -> str:
        self.times += 1
        return self.finding


async def test_all_is_well_when_no_probe_finds_anything():
    report = await Health({"database": Looked(), "index": Looked()}).report()
    assert report.is_well
    assert report.findings == {"database": "", "index": ""}


async def test_what_is_wrong_is_named_and_logged(caplog):
    report = await Health({"database": Looked(), "index": Looked("not built yet")}).report()
    assert not report.is_well
    assert report.findings["index"] == "not built yet"
    assert [record.levelname for record in caplog.records] == ["WARNING"]


async def test_looking_often_asks_the_probes_now_and_then():
    clock = [0.0]
    probe = Looked()
    health = Health({"database": probe}, now=lambda: clock[0])
    await asyncio.gather(*(health.report() for _ in range(20)))
    assert probe.times == 1
    clock[0] = KEEP_S
    probe.finding = "cannot be used"
    assert not (await health.report()).is_well
    assert probe.times == 2


async def test_a_probe_that_hangs_is_found_to_take_too_long(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("bot.observability.PATIENCE_S", 0.01)

    async def hangs() -> str:
        await asyncio.Event().wait()
        return ""

    report = await Health({"index": hangs, "database": Looked()}).report()
    assert report.findings == {"index": "takes too long", "database": ""}
