"""REINDEX_CRON means what it means in a crontab."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from ingest.errors import ConfigurationError
from ingest.schedule import cron_trigger

PARIS = ZoneInfo("Europe/Paris")
FRIDAY = datetime(2026, 1, 2, 12, 0, tzinfo=PARIS)


def runs(expression: str, count: int = 3) -> list[str]:
    trigger = cron_trigger(expression, "Europe/Paris")
    assert trigger is not None
    moments, now, previous = [], FRIDAY, None
    for _ in range(count):
        previous = trigger.get_next_fire_time(previous, now)
        now = previous
        moments.append(f"{previous:%a %d %H:%M}")
    return moments


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 5 * * *", ["Sat 03 05:00", "Sun 04 05:00", "Mon 05 05:00"]),
        ("0 5 * * 1-5", ["Mon 05 05:00", "Tue 06 05:00", "Wed 07 05:00"]),
        ("0 5 * * 0", ["Sun 04 05:00", "Sun 11 05:00", "Sun 18 05:00"]),
        ("0 5 * * 7", ["Sun 04 05:00", "Sun 11 05:00", "Sun 18 05:00"]),
        ("0 5 * * 5-7", ["Sat 03 05:00", "Sun 04 05:00", "Fri 09 05:00"]),
        ("0 5 * * sat,MON", ["Sat 03 05:00", "Mon 05 05:00", "Sat 10 05:00"]),
        ("0 5 * * fri-mon", ["Sat 03 05:00", "Sun 04 05:00", "Mon 05 05:00"]),
        ("0 5 * * 1-5/2", ["Mon 05 05:00", "Wed 07 05:00", "Fri 09 05:00"]),
        ("0 5 * * */3", ["Sat 03 05:00", "Sun 04 05:00", "Wed 07 05:00"]),
        ("*/30 * * * *", ["Fri 02 12:00", "Fri 02 12:30", "Fri 02 13:00"]),
        ("0 5 6 * 0", ["Sun 04 05:00", "Tue 06 05:00", "Sun 11 05:00"]),
    ],
)
def test_a_crontab_expression_fires_when_cron_would(expression, expected):
    assert runs(expression) == expected


def test_the_time_zone_is_the_configured_one():
    trigger = cron_trigger("0 5 * * *", "America/Montreal")

    assert trigger is not None
    fire = trigger.get_next_fire_time(None, FRIDAY)
    assert fire.astimezone(ZoneInfo("UTC")).hour == 10


@pytest.mark.parametrize("expression", ["", "   "])
def test_an_empty_expression_means_never(expression):
    assert cron_trigger(expression, "Europe/Paris") is None


@pytest.mark.parametrize(
    "expression", ["tomorrow", "0 5 * *", "61 5 * * *", "0 5 * * 8", "0 5 * * lundi", "0 5 * * 1/x"]
)
def test_a_wrong_expression_is_an_error_that_names_the_variable(expression):
    with pytest.raises(ConfigurationError, match="REINDEX_CRON"):
        cron_trigger(expression, "Europe/Paris")


@pytest.mark.parametrize("timezone", ["Mars/Olympus", "", "/etc/passwd"])
def test_a_wrong_time_zone_is_an_error_that_names_the_variable(timezone):
    with pytest.raises(ConfigurationError, match="TIMEZONE"):
        cron_trigger("0 5 * * *", timezone)
