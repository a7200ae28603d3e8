"""What deploy/ sets exists, and is safe by default."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from bot.settings import BotSettings
from bot.slack.app import STOP_LIMIT_S
from bot.web import STOP_LIMIT_S as WEB_STOP_LIMIT_S

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICE = COMPOSE["services"]["manuel"]
UNIT = (DEPLOY / "manuel.service").read_text(encoding="utf-8")

NOT_OURS = {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}


def image_settings() -> dict[str, str]:
    [block] = re.findall(r"^ENV ((?:.*\\\n)*.*)$", DOCKERFILE, re.MULTILINE)
    pairs = dict(pair.split("=", 1) for pair in block.replace("\\\n", " ").split())
    return {name: value for name, value in pairs.items() if name not in NOT_OURS}


def unit_settings() -> dict[str, str]:
    return dict(re.findall(r"^Environment=([A-Z_]+)=(.*)$", UNIT, re.MULTILINE))


@pytest.mark.parametrize(
    "values",
    [image_settings(), SERVICE["environment"], unit_settings()],
    ids=["image", "compose", "unit"],
)
def test_variables_that_are_set_are_settings_and_valid(values):
    assert {name.lower() for name in values} <= set(BotSettings.model_fields)
    BotSettings(_env_file=None, **{name.lower(): value for name, value in values.items()})


def test_image_runs_without_root_and_stops_as_it_should():
    last_stage = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
    assert re.search(r"^USER \d+$", last_stage, re.MULTILINE)
    assert 'ENTRYPOINT ["manuel"]' in last_stage  # exec form: signals reach the app
    assert "/healthz/live" in last_stage


def test_image_holds_what_the_wheel_needs_and_no_more():
    ignore = (DEPLOY.parent / ".dockerignore").read_text(encoding="utf-8").split()
    copied = {
        part
        for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE)
        for part in line.split()[:-1]
    }
    assert {f"!{part}" for part in copied} == {part for part in ignore if part.startswith("!")}
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {*wheel["packages"], *wheel["force-include"]} <= copied


def test_compose_opens_the_port_on_this_machine_only_and_takes_rights_away():
    assert all(port.startswith("127.0.0.1:") for port in SERVICE["ports"])
    assert SERVICE["cap_drop"] == ["ALL"]
    assert SERVICE["read_only"] is True


def test_service_managers_wait_longer_than_a_stop_takes():
    longest = STOP_LIMIT_S + WEB_STOP_LIMIT_S
    assert int(SERVICE["stop_grace_period"].removesuffix("s")) > longest
    assert int(re.findall(r"^TimeoutStopSec=(\d+)$", UNIT, re.MULTILINE)[0]) > longest
